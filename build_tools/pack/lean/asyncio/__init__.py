"""In place of asyncio, of which Pyodide asks for the running loop: nothing here is awaited."""


def get_event_loop() -> None:
    raise RuntimeError("there is no event loop in this Pyodide")
