"""Names that count how often they are compared, to tell a search among all from a look at one."""


class Compared(str):
    """A name that counts how often any of its kind is held against another one."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        equal = str.__eq__(self, other)
        Compared.times += not equal
        return equal
