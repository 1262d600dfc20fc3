import { describe, expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import { isNamed, type PackageSource, packageName, parseSource, shortName } from "../../src/packages/source.js";

const BASE = { dir: "/work/shop", home: "/home/ada" };

describe("parseSource", () => {
	test.each<[string, PackageSource, string, string]>([
		["npm:demo", { kind: "npm", name: "demo" }, "npm:demo", "demo"],
		["npm:@ada/demo@^1.2", { kind: "npm", name: "@ada/demo", range: "^1.2" }, "npm:@ada/demo", "demo"],
		["npm:demo@next", { kind: "npm", name: "demo", range: "next" }, "npm:demo", "demo"],
		[
			"git:https://example.com/ada/demo.git@v1.0",
			{ kind: "git", url: "https://example.com/ada/demo.git", ref: "v1.0" },
			"git:example.com/ada/demo",
			"demo",
		],
		[
			"git:git@example.com:ada/demo.git@feature/x",
			{ kind: "git", url: "git@example.com:ada/demo.git", ref: "feature/x" },
			"git:example.com/ada/demo",
			"demo",
		],
		[
			"git:example.com/ada/demo",
			{ kind: "git", url: "https://example.com/ada/demo" },
			"git:example.com/ada/demo",
			"demo",
		],
		[
			"git:ssh://git@example.com:2222/demo",
			{ kind: "git", url: "ssh://git@example.com:2222/demo" },
			"git:example.com:2222/demo",
			"demo",
		],
		["git:/srv/demo.git", { kind: "git", url: "file:///srv/demo.git" }, "git:/srv/demo", "demo"],
		["./kit", { kind: "path", path: "/work/shop/kit" }, "/work/shop/kit", "kit"],
		["~/kit/", { kind: "path", path: "/home/ada/kit" }, "/home/ada/kit", "kit"],
	])("%s", (text, source, name, short) => {
		expect(parseSource(text, BASE)).toEqual(source);
		expect([packageName(source), shortName(source)]).toEqual([name, short]);
	});

	test.each([
		["npm:", "the name is malformed"],
		["npm:../x", "the name is malformed"],
		["npm:-g", "the name is malformed"],
		["npm:x@file:../y", "the version is malformed"],
		["npm:x@git+ssh://y", "the version is malformed"],
		["npm:x@--registry=http://evil", "the version is malformed"],
		["git:--upload-pack=touch x", "the address is malformed"],
		["git:-oProxyCommand=x@y", "the address is malformed"],
		["git:ssh://-oProxyCommand=x/y", "the address is malformed"],
		["git:ext::sh -c x", "the address is malformed"],
		["git:ext::x", "the address is malformed"],
		["git:javascript://x/y", "the address is malformed"],
		["git:https://example.com/x@--output=y", "the ref is malformed"],
		["git:https://example.com/x@a..b", "the ref is malformed"],
		["https://example.com/x", "an address needs a kind"],
		["", "the path is empty or malformed"],
	])("refuses %s", (text, reason) => {
		let message = "";
		try {
			parseSource(text, BASE);
		} catch (error) {
			if (error instanceof PiError) message = error.message;
		}
		expect(message).toBe(`Cannot use the package ${JSON.stringify(text)}: ${reason}`);
	});
});

test("refuses an address with a password without repeating it", () => {
	expect(() => parseSource("git:https://me:secret@example.com/ada/demo", BASE)).toThrow(
		'Cannot use the package "git:example.com/ada/demo": its address has a password',
	);
});

test.each([
	["demo", true],
	["@ada/demo", true],
	["npm:@ada/demo", true],
	["npm:@ada/demo@9", true],
	["npm:demo", false],
	["dem", false],
])("the word %s names npm:@ada/demo: %s", (word, isExpected) => {
	expect(isNamed({ kind: "npm", name: "@ada/demo", range: "1" }, word, BASE)).toBe(isExpected);
});
