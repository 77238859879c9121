"""Lists that continue by the cursors of their pages (specification.md#logs)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from agentrun.call import Call
from agentrun.exchange import next_cursor, with_cursor
from agentrun.model import Page

if TYPE_CHECKING:
    from agentrun.async_client import AsyncClient

PageType = TypeVar("PageType")
Item = TypeVar("Item")
Made = TypeVar("Made")


class AsyncPages(Generic[PageType, Item]):
    """Every item when it is iterated over; `pages()` has the pages, `first()` only the first one. Each iteration starts with the first page."""

    def __init__(self, load: Callable[[], AsyncIterator[PageType]], items: Callable[[PageType], list[Item]]) -> None:
        self._load = load
        self._items = items

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self._load():
            for item in self._items(page):
                yield item

    def pages(self) -> AsyncIterator[PageType]:
        return self._load()

    async def first(self) -> PageType:
        async for page in self._load():
            return page
        raise AssertionError("a list has a first page")


def listed(client: AsyncClient, call: Call[Page[Item]], make: Callable[[Item], Made]) -> AsyncPages[Page[Item], Made]:
    """Returns a list; `make` turns each item into what is yielded. Items that are added meanwhile move none."""

    async def load() -> AsyncIterator[Page[Item]]:
        current = call
        while True:
            response = await client.exchange(current)
            yield current.read(response)
            cursor = next_cursor(response)
            if cursor is None:
                return
            current = with_cursor(call, cursor)

    return AsyncPages(load, lambda page: [make(item) for item in page.items])


def unchanged(item: Item) -> Item:
    return item
