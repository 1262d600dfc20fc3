import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { Header } from "../../../src/modes/interactive/header.js";
import { plainStyle } from "./plain-style.js";

const LOADED = {
	hooks: [
		{ path: "/a.ts", scope: "global" },
		{ path: "/b.ts", scope: "global" },
		{ path: "/c.ts", scope: "project" },
	],
	skills: ["x", "y"],
	templates: [],
	contextFiles: ["/home/ada/src/shop/AGENTS.md"],
	warnings: ["settings.json: line 3: a comma is missing", "hook deploy.ts failed:\u001b[2J boom"],
};

test("the first line counts loaded resources and shows basic keys; each warning has its own line", () => {
	const header = new Header(plainStyle(), "0.1", false);
	header.loaded = LOADED;
	expect(header.render(80)).toEqual([
		"pi 0.1 · 3 hooks · 2 skills · AGENTS.md     / commands  @ files  ! shell  ? help",
		"! settings.json: line 3: a comma is missing",
		"! hook deploy.ts failed:␛[2J boom",
	]);
});

test("hooks of pi are not counted", () => {
	const header = new Header(plainStyle(), "0.1", false);
	const hooks = ["builtin", "bundled"].map((scope) => ({ path: scope, scope }));
	header.loaded = { ...LOADED, hooks, skills: [], contextFiles: [], warnings: [] };
	expect(header.render(80)).toEqual([`pi 0.1${" ".repeat(38)}/ commands  @ files  ! shell  ? help`]);
});

test("the header is not final before the session has loaded", () => {
	const header = new Header(plainStyle(), "0.1", false);
	expect(header.done).toBe(false);
	expect(header.render(80)).toEqual([`pi 0.1${" ".repeat(38)}/ commands  @ files  ! shell  ? help`]);
	header.loaded = LOADED;
	expect(header.done).toBe(true);
});

test("quietStartup shows only warnings", () => {
	const header = new Header(plainStyle(), "0.1", true);
	header.loaded = { ...LOADED, warnings: [] };
	expect(header.render(80)).toEqual([]);
	header.loaded = LOADED;
	expect(header.render(80)).toHaveLength(2);
});

test("narrow screens keep the left part", () => {
	const header = new Header(plainStyle(), "0.1", false);
	header.loaded = LOADED;
	expect(header.render(40)[0]).toBe("pi 0.1 · 3 hooks · 2 skills · AGENTS.md");
	for (let width = 1; width < 60; width++) {
		expect(header.render(width).every((line) => visibleWidth(line) <= width)).toBe(true);
	}
});

test("a long warning is wrapped", () => {
	const header = new Header(plainStyle(), "0.1", true);
	header.loaded = { ...LOADED, warnings: ["/home/ada/.pi/agent/settings.json: theme must be a text; it is ignored"] };
	expect(header.render(60)).toEqual(["! ~/.pi/agent/settings.json: theme must be a text; it is", "ignored"]);
});
