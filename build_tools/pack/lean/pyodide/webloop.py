"""In place of Pyodide's event loop, which needs all of asyncio: nothing here is awaited."""


def _initialize_event_loop() -> None:
    pass
