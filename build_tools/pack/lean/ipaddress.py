"""In place of ipaddress, which ``urllib.parse`` asks about hosts in brackets: only queries are
parsed here."""


def ip_address(address: str) -> None:
    raise ValueError(f"{address} is not parsed in this Pyodide")
