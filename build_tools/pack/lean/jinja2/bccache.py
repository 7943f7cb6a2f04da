"""In place of Jinja's caches for compiled templates, which need pickle and tempfile: templates
come compiled."""


class BytecodeCache:
    pass


class FileSystemBytecodeCache(BytecodeCache):
    pass


class MemcachedBytecodeCache(BytecodeCache):
    pass
