"""What can go wrong in an exchange besides the errors of the system."""


class ExchangeError(Exception):
    """The exchange can't be made or can't go on. Its text never holds what was sent or received."""


class BrokenHttpError(ExchangeError):
    """What came is no HTTP/1.1 response, or ended in the middle of one."""


class ProxyError(ExchangeError):
    """The environment's proxy is of a kind that we can't use, or it let us through to nobody."""
