import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEntities } from "../../src/util/entities.js";
import { revealInvisible } from "../../src/util/reveal.js";

test.each([
	["Tom &amp; Jerry &lt;b&gt; &hellip; &#8594; &#x2192;", "Tom & Jerry <b> … → →"],
	["&amp;lt; once", "&lt; once"],
	["&unknown; &toString; &amp &; &#xffffff;", "&unknown; &toString; &amp &; &#xffffff;"],
	["a&#x202e;b&#0;", "a‹U+202E›b^@"],
])("%j means %j", (text, expected) => {
	expect(decodeEntities(text)).toBe(expected);
});

test("no entity brings an invisible character", () => {
	fc.assert(
		fc.property(fc.nat({ max: 0x110000 }), (code) => {
			const decoded = decodeEntities(`&#${code};`);
			expect(revealInvisible(decoded)).toBe(decoded);
		}),
	);
});
