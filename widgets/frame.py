"""From a query to HTML: state, view, template."""

from __future__ import annotations

from types import ModuleType

from markupsafe import Markup

from widgets.environment import environment
from widgets.figures import Panels, kept_together
from widgets.state import State, parse
from widgets.tasks import reached


def _folder(module: ModuleType) -> str:
    return module.__name__.split(".")[1]


def frame(
    module: ModuleType, query: str, element_id: str, base: str, figures: Panels | None = None
) -> str:
    """The frame of ``query``. ``base`` leads from the page to the site's root; ``figures``
    gathers what figures the frame shows."""
    state = parse(module.FIELDS, query)
    template = environment().get_template(f"{_folder(module)}/template.html")
    figures = figures or Panels()
    figures.prefix, figures.base = f"{element_id}-", base
    values = module.view(state) | {"reached": reached(module, state)}
    return kept_together(template.render(id=element_id, state=state, figures=figures, **values))


def key(module: ModuleType, query: str) -> str:
    """The key under which the frame of ``query`` is kept."""
    return parse(module.FIELDS, query).full_query()


def element(
    module: ModuleType, query: str, element_id: str, base: str, runtime: str, frames_src: str
) -> str:
    """The custom element as it stands in a page: first frame, tools, and the frames that readers
    without JavaScript see. ``runtime`` is the site path of the boot manifest,
    ``frames_src`` that of the prerendered frames."""
    state: State = parse(module.FIELDS, query)
    template = environment().get_template("element.html")
    return template.render(
        name=_folder(module),
        id=element_id,
        label=module.LABEL,
        base=base,
        runtime=runtime,
        frames_src=frames_src,
        first=Markup(frame(module, query, element_id, base)),
        still=[
            (words, Markup(frame(module, q, f"{element_id}-{i}", base)))
            for i, (words, q) in enumerate(module.still(state))
        ],
    )
