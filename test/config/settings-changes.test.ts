import { renameSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { SettingsStore } from "../../src/config/settings-store.js";
import { loadSettings } from "./load-settings.js";

test("a subscriber receives one event per change, and none if the value is the same", async () => {
	const { store, changes, projectFile } = loadSettings({ theme: "dark" }, {});
	onTestFinished(store.watch());
	await store.set("theme", "dark");
	store.override("queueMode", "one-at-a-time");
	expect(changes).toEqual([]);
	await Promise.all([store.set("theme", "light"), store.set("gutter", false), store.set("retry.maxRetries", 1)]);
	// What the watcher makes of the store's own writes comes before what it makes of a later one.
	writeFileSync(projectFile, '{"gutter": true}');
	await expect.poll(() => store.current.gutter).toBe(true);
	expect(changes.map(({ paths }) => paths)).toEqual([["theme"], ["gutter"], ["retry.maxRetries"], ["gutter"]]);
});

test("a subscription ends", async () => {
	const { store } = loadSettings();
	let count = 0;
	const unsubscribe = store.subscribe(() => {
		count += 1;
	});
	await store.set("gutter", false);
	unsubscribe();
	await store.set("gutter", true);
	expect(count).toBe(1);
});

test("watched files are read again after edits by other programs", async () => {
	const { store, changes, userFile, projectFile, agentDir, cwd } = loadSettings({ theme: "dark" }, {});
	const stop = store.watch();
	onTestFinished(stop);
	writeFileSync(`${userFile}~`, '{"theme": "light", "retry": {"enabled": false}}');
	renameSync(`${userFile}~`, userFile);
	await expect.poll(() => changes).toEqual([{ paths: ["theme", "retry.enabled"], problems: [] }]);
	writeFileSync(projectFile, '{"gutter": false}');
	await expect.poll(() => changes.at(-1)).toEqual({ paths: ["gutter"], problems: [] });
	stop();
	const other = new SettingsStore({ agentDir, cwd });
	onTestFinished(other.watch());
	writeFileSync(projectFile, '{"gutter": true}');
	await expect.poll(() => other.current.gutter).toBe(true);
	expect([changes.length, store.current.gutter]).toEqual([2, false]);
});

test("an edit that makes the file invalid is reported once, and the last valid values are kept", async () => {
	const { store, changes, userFile, projectFile } = loadSettings('{\n"theme": "dark",\n"mine": 1}', {});
	onTestFinished(store.watch());
	writeFileSync(userFile, '{\n"theme": "light",,\n"mine": 1}');
	const problem = `${userFile}:2:18: expected a key in double quotes or "}" · fix the file; the settings read before are kept`;
	await expect.poll(() => changes).toEqual([{ paths: [], problems: [problem] }]);
	writeFileSync(userFile, '{\n"theme": "light",,\n"mine":  1}');
	// The watcher reads this file after that one.
	writeFileSync(projectFile, '{"gutter": false}');
	await expect.poll(() => changes.slice(1)).toEqual([{ paths: ["gutter"], problems: [] }]);
	expect(store.current.theme).toBe("dark");
	writeFileSync(userFile, '{"theme": "light"}');
	await expect.poll(() => changes.at(-1)).toEqual({ paths: ["theme"], problems: [] });
});

test("an unknown key that moves to another line is not reported again", async () => {
	const { changes, store, userFile } = loadSettings('{\n"mine": 1}');
	onTestFinished(store.watch());
	writeFileSync(userFile, '{\n\n\n"gutter": false, "mine": 1}');
	await expect.poll(() => changes).toEqual([{ paths: ["gutter"], problems: [] }]);
});
