"""The ConversionReview protocol: what a conversion webhook is asked, and what its answer must look like.

A webhook may change everything but the identity of an object: of its metadata only labels and annotations are taken.
Refusals have the words of a kube-apiserver. Pure: version_views.py sends and receives."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import msgspec

from gangline.cluster.schema.labels import check_annotations, check_labels
from gangline.cluster.server.convert.conversion_plan import ConversionPlan
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.rules.values.problems import go_type

GROUP, KIND = "apiextensions.k8s.io", "ConversionReview"
KNOWN = ("v1", "v1beta1")
Obj = dict[str, Any]


class ConversionFailed(Exception):
    """Objects that could not be converted, and why."""


class ReviewResult(msgspec.Struct):
    status: str = ""
    message: str = ""


class ConversionAnswer(msgspec.Struct, rename="camel"):
    """What of a webhook's response is used, and of which type it must be."""

    uid: str = ""
    converted_objects: list[dict[str, Any]] | None = None
    result: Annotated[ReviewResult, msgspec.Meta()] = msgspec.field(default_factory=ReviewResult)


def question(plan: ConversionPlan, objects: list[Obj], version: str) -> Obj:
    """What a webhook is asked, in the first version of the review that both sides know."""
    known = next((name for name in plan.reviews if name in KNOWN), None)
    if known is None:
        raise ConversionFailed("no supported conversion review versions")
    asked = {"uid": str(uuid.uuid4()), "desiredAPIVersion": plan.named(version), "objects": objects}
    return {"kind": KIND, "apiVersion": f"{GROUP}/{known}", "request": asked}


def read_answer(asked: Obj, content: bytes) -> list[Obj]:
    """The objects of a webhook's answer, as it sent them."""
    try:
        document = read_json(content)
    except DocumentUnreadable as error:
        raise ConversionFailed(f"couldn't get version/kind; json parse error: {error}") from None
    review = document if isinstance(document, dict) else {}
    strict = asked["apiVersion"] == f"{GROUP}/v1"
    _check_kind(asked["apiVersion"], review)
    if not isinstance(review.get("response"), dict):
        raise ConversionFailed("no response provided")
    try:
        answer = msgspec.convert(review["response"], ConversionAnswer)
    except msgspec.ValidationError as error:
        raise ConversionFailed(str(error)) from None
    uid = asked["request"]["uid"]
    if strict and answer.uid != uid:
        raise ConversionFailed(f'expected response.uid="{uid}", got "{answer.uid}"')
    if answer.result.status != "Success":
        raise ConversionFailed(
            answer.result.message or f"response.result.status was '{answer.result.status}', not 'Success'"
        )
    return answer.converted_objects or []


def _check_kind(wanted: str, review: Obj) -> None:
    version, kind = review.get("apiVersion") or "", review.get("kind") or ""
    if kind != KIND or version not in [f"{GROUP}/{known}" for known in KNOWN]:
        scheme = 'in scheme "pkg/runtime/scheme.go:111"'
        raise ConversionFailed(f'no kind "{kind}" is registered for version "{version}" {scheme}')
    if version != wanted and wanted == f"{GROUP}/v1":
        raise ConversionFailed(f"expected webhook response of {wanted}, Kind={KIND}, got {version}, Kind={kind}")


def checked(plan: ConversionPlan, original: Obj, converted: Obj, version: str, source: str) -> Obj:
    """A converted object, if it is still the same one, with the metadata that a webhook must not change."""
    refusal = f"conversion webhook for {source}, Kind={plan.kind} returned invalid"
    wanted, got = plan.named(version), converted.get("apiVersion") or ""
    if got != wanted:
        raise ConversionFailed(f"{refusal} object at index 0: invalid groupVersion (expected {wanted}, received {got})")
    if converted.get("kind") != plan.kind:
        raise ConversionFailed(
            f"{refusal} object at index 0: invalid kind (expected {plan.kind}, received {converted.get('kind') or ''})"
        )
    about, given = original["metadata"], converted.get("metadata")
    given = given if isinstance(given, dict) else {}
    for key, named in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        before, after = about.get(key) or "", given.get(key) or ""
        if before != after:
            raise ConversionFailed(f"{refusal} object: must have the same {named}: {before} != {after}")
    return converted | {"metadata": _restored(about, given, f"{refusal} metadata")}


def _restored(about: Obj, given: Obj, refusal: str) -> Obj:
    kept = {key: value for key, value in about.items() if key not in ("labels", "annotations")}
    for key, check in (("labels", check_labels), ("annotations", check_annotations)):
        texts = given.get(key)
        if texts is None:
            continue
        if not isinstance(texts, dict):
            raise ConversionFailed(f"{refusal}: invalid metadata.{key} of type {go_type(texts)} in converted object")
        odd = next((name for name, text in texts.items() if not isinstance(text, str)), None)
        if odd is not None:
            what = f"must be a string, but is {go_type(texts[odd])} in converted object"
            raise ConversionFailed(f"{refusal}: metadata.{key}[{odd}] {what}")
        path = "metadata.labels" if key == "labels" else "metadata.annotation"
        problems = list(check(texts, path)) if texts != about.get(key) else []
        if problems:
            texts_told = [f"{problem.path}: {problem.message}" for problem in problems]
            listed = texts_told[0] if len(texts_told) == 1 else f"[{', '.join(texts_told)}]"
            raise ConversionFailed(f"{refusal}: {listed}")
        kept[key] = texts
    return kept
