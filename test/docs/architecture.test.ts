import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");

test("every file that the page names exists", () => {
	const root = new URL("../../", import.meta.url);
	const files = ["src", "test", "bin"].flatMap((dir) =>
		readdirSync(new URL(dir, root), { recursive: true, encoding: "utf8" }).map((path) => `${dir}/${path}`),
	);
	const named = [...page.matchAll(/`([\w./-]+\.(?:ts|js))`/g)].map(([, name = ""]) => name);
	const exists = (name: string) =>
		files.some((path) => path.endsWith(`/${name}`) || basename(path) === name || path === name);
	expect(named.length).toBeGreaterThan(40);
	expect(named.filter((name) => !exists(name))).toEqual([]);
});
