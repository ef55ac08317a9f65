"""Which version of a custom resource somebody reads and writes, where a webhook converts between versions.

Verbs ask here for what is shown, and for what is stored. For every other resource both are the same thing, and nothing
is done. There is one view for each version that somebody uses."""

from __future__ import annotations

from gangline.cluster.server.admit.webhook_calls import WebhookCaller
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.convert.conversion_plan import Obj, plan_of, stored_as
from gangline.cluster.server.convert.converted_shelf import ConvertedShelf
from gangline.cluster.server.convert.webhook_converter import WebhookConverter
from gangline.cluster.server.core import Core
from gangline.cluster.server.store.shelf import Record, Shelf


class VersionViews:
    def __init__(self, core: Core, caller: WebhookCaller) -> None:
        self._core, self._converter = core, WebhookConverter(caller)
        self._views: dict[tuple[str, str, str], ConvertedShelf] = {}

    async def shown(self, resource: Resource, record: Record) -> Record:
        """A stored record as a version shows it."""
        plan = plan_of(resource)
        if plan is None:
            return record
        known = self._view(resource).known(record)
        if known is not None:
            return known
        return (await self._converter.records(plan, [record], resource.version))[0]

    async def kept(self, resource: Resource, obj: Obj) -> tuple[Resource, Obj]:
        """The version in which an object is stored, and the object in it."""
        plan = plan_of(resource)
        if plan is None or resource.version == plan.storage:
            return resource, obj
        [stored] = await self._converter.objects(plan, [obj], resource.version, plan.storage)
        return stored_as(resource), stored

    async def between(self, source: Resource, target: Resource, obj: Obj) -> Obj:
        """An object of one version in another one."""
        plan = plan_of(source)
        assert plan is not None
        return (await self._converter.objects(plan, [obj], source.version, target.version))[0]

    async def shelf(self, resource: Resource) -> Shelf:
        """Where lists and watches of a version are cut out of."""
        if plan_of(resource) is None:
            return self._core.store.shelf(resource.shelf)
        view = self._view(resource)
        await view.follow()
        return view

    def forget(self, resource: Resource) -> None:
        """A version that is no longer served as it was."""
        view = self._views.pop((resource.group, resource.version, resource.plural), None)
        if view is not None:
            view.retire()

    def _view(self, resource: Resource) -> ConvertedShelf:
        key = (resource.group, resource.version, resource.plural)
        if key not in self._views:
            self._views[key] = ConvertedShelf(self._core, self._converter, resource)
        return self._views[key]
