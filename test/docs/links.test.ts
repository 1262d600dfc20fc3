import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [
	...["AGENTS.md", "CONTRIBUTING.md", "README.md"],
	...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).flatMap((name) =>
		name.endsWith(".md") ? [`docs/${name.replaceAll("\\", "/")}`] : [],
	),
];

/** Ids of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
	const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
	return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
		title
			.toLowerCase()
			.replace(/[^\w -]/g, "")
			.replaceAll(" ", "-"),
	);
}

test.each(pages)("every link of %s to a page leads to a heading", (page) => {
	const text = readFileSync(join(root, page), "utf8");
	const links = [...text.matchAll(/\]\(([^)\s:#]*\.md)?(?:#([^)\s]+))?\)/g)].filter(
		([, file, anchor]) => file || anchor,
	);
	const broken = links.flatMap(([link, file, anchor]) => {
		const target = file === undefined ? page : join(dirname(page), file);
		if (!pages.includes(target) && !target.endsWith("CHANGELOG.md")) return [link];
		return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [link];
	});
	expect(broken).toEqual([]);
});
