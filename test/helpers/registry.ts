import { execFile } from "node:child_process";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { isObject, parseJson } from "./json.js";

/** A package manifest, as far as it matters here. */
interface Manifest {
	name: string;
	version: string;
	dependencies?: object;
	optionalDependencies?: object;
}

/** A registry on the loopback interface. */
export interface Registry {
	url: string;
	/** Path of the tarball of the packed project. */
	tarball: string;
	close(): Promise<void>;
}

/**
 * Packs a project and the packages that it needs at run time, as installed in its node_modules, and offers the packages
 * like npm's registry, so that `npm install` works without network.
 * @param root directory of the project
 * @param directory for the tarballs
 * @throws Error when npm cannot pack
 */
export async function startRegistry(root: string, directory: string): Promise<Registry> {
	const packages = [...new Set(dependencies(root, join(root, "node_modules")))];
	const args = ["pack", root, ...packages, "--pack-destination", directory, "--ignore-scripts", "--loglevel=error"];
	const { stdout } = await promisify(execFile)("npm", args, { cwd: directory });
	const [tarball = "", ...tarballs] = stdout.trim().split("\n");
	const offered = new Map(packages.map((path, index) => [manifestOf(path).name, { path, tarball: tarballs[index] }]));

	const server = createServer(({ url = "/" }, response) => {
		const path = decodeURIComponent(url.slice(1));
		if (tarballs.includes(path)) return void createReadStream(join(directory, path)).pipe(response);
		const found = offered.get(path);
		if (!found) return void response.writeHead(404).end();
		const manifest = manifestOf(found.path);
		const version = { ...manifest, dist: { tarball: `${address()}/${found.tarball}` } };
		response.end(
			JSON.stringify({
				name: manifest.name,
				"dist-tags": { latest: manifest.version },
				versions: { [manifest.version]: version },
			}),
		);
	});
	const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return {
		url: address(),
		tarball: join(directory, tarball),
		close: () => {
			server.closeAllConnections();
			return new Promise((resolve) => server.close(() => resolve()));
		},
	};
}

/** Directories of the packages that a package needs at run time, as far as they are installed. */
function dependencies(directory: string, installed: string): string[] {
	const { dependencies: required = {}, optionalDependencies: optional = {} } = manifestOf(directory);
	return Object.keys({ ...required, ...optional })
		.map((name) => join(installed, name))
		.filter((path) => existsSync(path))
		.flatMap((path) => [path, ...dependencies(path, installed)]);
}

/** @throws Error when the directory has no valid package.json */
function manifestOf(directory: string): Manifest {
	const manifest = parseJson(readFileSync(join(directory, "package.json"), "utf8"));
	if (!isObject(manifest) || typeof manifest.name !== "string" || typeof manifest.version !== "string") {
		throw new Error(`${directory} contains no package`);
	}
	return { ...manifest, name: manifest.name, version: manifest.version };
}
