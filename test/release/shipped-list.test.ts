import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtInModels, libraryModels, SHIPPED_UPDATES, withUpdates } from "../../src/models/built-in-models.js";
import { startListServer } from "../helpers/list-server.js";
import { tempDir } from "../helpers/temp.js";
import { refreshShippedList } from "./refresh-shipped-list.js";

const DAY_MS = 24 * 3_600_000;
const MAX_AGE_DAYS = 60;

// npm run release:check
test.runIf(process.env.PI_RELEASE === "1")("the list of models that ships is at most 60 days old", () => {
	const days = Math.floor((Date.now() - builtInModels().madeAt) / DAY_MS);
	expect(days, `the list is ${days} days old: npm run models refreshes it`).toBeLessThanOrEqual(MAX_AGE_DAYS);
});

test("npm run models layers what the catalog knows over the list of pi-ai", async () => {
	const day = new Date().toISOString().slice(0, 10);
	const server = await startListServer({
		"/api.json": {
			anthropic: {
				models: {
					"claude-opus-6": {
						name: "Claude Opus 6",
						tool_call: true,
						release_date: day,
						cost: { input: 5, output: 25 },
					},
					"claude-opus-5-5": { limit: { context: 2_000_000 } },
					"old-model": { release_date: "2024-01-01" },
				},
			},
			unknown: { models: { x: {} } },
		},
	});
	const path = join(tempDir(), SHIPPED_UPDATES);
	expect(await refreshShippedList(`${server.origin}/api.json`, path)).toEqual([
		"anthropic: 1 new, 1 with other facts, 0 ignored",
	]);
	const { lists, madeAt } = withUpdates(libraryModels(), path);
	expect(lists.find("anthropic", "claude-opus-6")).toMatchObject({
		name: "Claude Opus 6",
		relative: "claude-opus-5-5",
		released: day,
	});
	expect(lists.find("anthropic", "claude-opus-5-5")).toMatchObject({ contextWindow: 2_000_000 });
	expect(lists.find("anthropic", "old-model")).toBeUndefined();
	expect(Date.now() - madeAt).toBeLessThan(60_000);
});

test("a catalog that fails leaves the file as it is", async () => {
	const path = join(tempDir(), SHIPPED_UPDATES);
	await expect(refreshShippedList("http://127.0.0.1:9/api.json", path)).rejects.toThrow(
		/^cannot reach 127\.0\.0\.1:9: /,
	);
	expect(existsSync(path)).toBe(false);
});

test("without the file, the list is that of pi-ai", () => {
	expect(withUpdates(libraryModels(), join(tempDir(), SHIPPED_UPDATES)).madeAt).toBe(libraryModels().madeAt);
});
