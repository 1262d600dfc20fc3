import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SettingsStore } from "../../src/config/settings-store.js";
import { PackageManager } from "../../src/packages/package-manager.js";
import { startGitServer } from "../helpers/git-server.js";
import { definePackage } from "../helpers/package-files.js";
import { tempDir } from "../helpers/temp.js";
import { failure, HOOK, place } from "./place.js";

describe("pi install git:", () => {
	test("installs a branch, tag or commit with its dependencies, and locks the commit", async () => {
		const { registry, env, paths, lock, settings } = await place();
		const server = await startGitServer();
		const repository = await server.create("ada/demo");
		registry.publish(definePackage({ name: "left", version: "1.0.0" }, { "index.js": "" }));
		const manifest = { name: "demo", version: "2.0.0", dependencies: { left: "1", "@mariozechner/pi-ai": "*" } };
		const first = await repository.commit({ "package.json": { json: manifest }, "hooks/one.ts": HOOK });
		await repository.tag("v1");
		await repository.commit({ "package.json": { json: manifest }, "hooks/two.ts": HOOK });
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		for (const ref of ["@v1", `@${first}`, ""]) {
			const change = await manager.install(`git:${repository.url}${ref}`, "user");
			expect(change).toMatchObject({ brings: "1 hook", dependencies: 1 });
			expect(lock().get(change.name)?.commit === first).toBe(ref !== "");
			expect(settings()).toEqual({ packages: [`git:${repository.url}${ref}`] });
		}
		const [locked] = [...lock().values()];
		expect(Object.keys(locked?.files ?? {})).toEqual(["hooks/two.ts", "package.json"]);
		expect(existsSync(join(paths.packages, locked?.dir ?? "", "package", ".git"))).toBe(false);
		expect(locked?.dependencies).toMatchObject({ "node_modules/left": { version: "1.0.0" } });
	});

	test("pi update and pi remove accept the name in package.json, if only one package has it", async () => {
		const { env, paths, settings } = await place();
		const server = await startGitServer();
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		const [bits, tidbits] = [await server.create("bits"), await server.create("other")];
		const files = { "package.json": { json: { name: "@ada/pi-gitbits", version: "1.0.0" } }, "hooks/one.ts": HOOK };
		await bits.commit(files);
		await tidbits.commit(files);
		await manager.install(`git:${bits.url}`, "user");
		const fresh = () =>
			new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		expect(await fresh().update("@ada/pi-gitbits", "user")).toMatchObject([
			{ before: expect.stringContaining("1.0.0") },
		]);
		expect(await failure(fresh().update("@ada/pi-gitbit", "user"))).toContain("did you mean @ada/pi-gitbits?");
		await fresh().install(`git:${tidbits.url}`, "user");
		expect(await failure(fresh().remove("@ada/pi-gitbits", "user"))).toMatch(/can be git:\S+bits or git:\S+other/);
		await fresh().remove("other", "user");
		await fresh().remove("@ada/pi-gitbits", "user");
		expect(settings().packages).toBeUndefined();
	});

	test("runs no hooks of git, fetches no submodules and reads no npm configuration of the repository", async () => {
		const { env, paths, lock, cwd } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		const mark = join(cwd, "ran");
		await repository.commit({
			"hooks/one.ts": HOOK,
			".npmrc": `git=${mark}\nignore-scripts=false\n`,
			".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${mark}"\n`,
			".gitattributes": "*.ts filter=evil\n",
			"package.json": { json: { name: "demo", version: "1.0.0", scripts: { prepare: `touch ${mark}` } } },
		});
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		await manager.install(`git:${repository.url}`, "user");
		expect([...lock().values()]).toHaveLength(1);
		expect(existsSync(mark)).toBe(false);
	});

	test("reports what is missing in one line, and changes nothing", async () => {
		const { env, paths, stored } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		await repository.commit({ "hooks/one.ts": HOOK });
		const other = (variables: Record<string, string> = {}) =>
			new PackageManager({ paths, env: { ...env, ...server.env, ...variables }, settings: new SettingsStore(paths) });
		const address = `git:${repository.url}`;
		const lines = [
			await failure(other().install(`${address}@v9`, "user")),
			await failure(other().install(`git:${server.url}/other.git`, "user")),
			await failure(other().install("git:http://127.0.0.1:9/x.git", "user")),
			await failure(other({ PATH: tempDir() }).install(address, "user")),
		];
		expect(lines).toEqual([
			`Cannot install ${address}: it has no branch, tag or commit v9 · check the part after @`,
			`Cannot install git:${server.url}/other.git: there is no such repository, or you have no access · check the address and your access`,
			"Cannot install git:http://127.0.0.1:9/x.git: the server cannot be reached · check the network and the proxy",
			"git is not installed, or not in PATH · install git",
		]);
		expect(stored()).toEqual([]);
	});

	test("refuses dependencies that are not in a registry", async () => {
		const { env, paths } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		const manifest = { name: "demo", version: "1.0.0", dependencies: { left: "git+ssh://git@example.com/left.git" } };
		await repository.commit({ "hooks/one.ts": HOOK, "package.json": { json: manifest } });
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		expect(await failure(manager.install(`git:${repository.url}`, "user"))).toMatch(
			/^It depends on left at git\+ssh:\/\/git@example.com\/left.git, which is not in a registry/,
		);
	});
});
