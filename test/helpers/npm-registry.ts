import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describeRequest, type HttpFault, sendOrFail } from "./http-fault.js";
import { isObject, objects, parseJson } from "./json.js";
import { manifestOf, type PackageFixture, packTarball, readPackage } from "./package-files.js";
import { listen } from "./proxy.js";
import { tempDir, writeFiles } from "./temp.js";

/** A published version. */
interface Published {
	manifest: { name: string; version: string };
	tarball: Buffer;
	/** As in the list of versions; of other bytes than `tarball` once it is tampered with. */
	integrity: string;
	shasum: string;
}

interface Listing {
	versions: Map<string, Published>;
	tags: Map<string, string>;
}

/** A registry of npm packages on loopback, for the real `npm`, which can publish there as well. */
export interface NpmRegistry {
	readonly url: string;
	/**
	 * Added to an environment, makes npm use only this registry, an own configuration and an own cache. npm retries failed
	 * requests as often and as late as for a user, so a test of a fault needs `--fetch-retries`.
	 */
	readonly env: Readonly<Record<string, string>>;
	/** Requests so far, such as `GET /demo` and `GET /demo/-/demo-1.0.0.tgz`. */
	readonly requests: string[];
	/** Offers a version, as `latest` unless another tag is given. @returns its integrity, such as `sha512-…` */
	publish(fixture: PackageFixture, tag?: string): string;
	/** Offers a directory with a package.json. @returns its integrity */
	publishDirectory(directory: string, tag?: string): string;
	/** Removes a version, as `npm unpublish` does. */
	unpublish(name: string, version: string): void;
	/** Serves other files for a version than those that its integrity is made of. */
	tamper(fixture: PackageFixture): void;
	/** Makes requests for a package fail, of its list of versions or of its tarballs; undefined: no longer. */
	fail(name: string, what: "versions" | "tarball", fault: HttpFault | undefined): void;
	/** Writes a `.npmrc` into a home directory, for programs that do not pass `env` to npm. */
	configure(home: string): void;
}

/** Starts an empty registry for the running test. */
export async function startNpmRegistry(): Promise<NpmRegistry> {
	const packages = new Map<string, Listing>();
	const faults = new Map<string, HttpFault>();
	const requests: string[] = [];
	const server = createServer((request, response) => {
		requests.push(describeRequest(request));
		const path = decodeURIComponent(new URL(request.url ?? "/", url).pathname).slice(1);
		const [name = "", file] = path.split("/-/");
		const listing = packages.get(name);
		const fault = faults.get(`${name} ${file === undefined ? "versions" : "tarball"}`);
		if (request.method === "PUT") return void receive(request, response);
		if (request.method !== "GET" || !listing) return sendStatus(404);
		if (file === undefined)
			return send("application/json", Buffer.from(JSON.stringify(describeListing(name, listing))));
		const found = [...listing.versions.values()].find(({ manifest }) => fileOf(manifest) === file);
		return found ? send("application/octet-stream", found.tarball) : sendStatus(404);

		function send(type: string, body: Buffer): void {
			void sendOrFail(response, fault, type, body);
		}
		function sendStatus(status: number): void {
			void sendOrFail(response, { status }, "application/json", Buffer.alloc(0));
		}
	});
	const url = `http://127.0.0.1:${await listen(server)}/`;
	const own = tempDir("pi-npm-");
	// npm publishes only with a token.
	const token = `${url.replace(/^http:/, "")}:_authToken=any`;
	const config = { ".npmrc": `registry=${url}\ncache=${join(own, "cache")}\n${token}\n` };
	writeFiles(own, config);

	function describeListing(name: string, { versions, tags }: Listing) {
		const described = [...versions].map(([version, { manifest, integrity, shasum }]) => {
			const tarball = `${url}${name}/-/${fileOf(manifest)}`;
			return [version, { ...manifest, _id: `${name}@${version}`, dist: { tarball, integrity, shasum } }] as const;
		});
		return { _id: name, name, "dist-tags": Object.fromEntries(tags), versions: Object.fromEntries(described) };
	}

	function publish(fixture: PackageFixture, tag = "latest"): string {
		const { name, version } = fixture;
		if (packages.get(name)?.versions.has(version)) throw new Error(`${name}@${version} is already published`);
		const tarball = packTarball(fixture.files);
		const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
		const shasum = createHash("sha1").update(tarball).digest("hex");
		add(manifestOf(fixture), { tarball, integrity, shasum }, tag);
		return integrity;
	}

	/** Stores a version that npm publishes. */
	async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const body = parseJson(await text(request));
		const { name, versions, _attachments: attachments, "dist-tags": tags } = isObject(body) ? body : {};
		const [manifest] = objects(isObject(versions) ? Object.values(versions) : []);
		const [attachment] = objects(isObject(attachments) ? Object.values(attachments) : []);
		const [tag] = Object.keys(isObject(tags) ? tags : {});
		const { version, dist } = manifest ?? {};
		const { integrity, shasum } = isObject(dist) ? dist : {};
		const tarball = Buffer.from(String(attachment?.data ?? ""), "base64");
		const isComplete = typeof name === "string" && typeof version === "string" && tarball.length > 0;
		if (!isComplete || packages.get(name)?.versions.has(version)) {
			return sendOrFail(response, { status: isComplete ? 403 : 400 }, "application/json", Buffer.alloc(0));
		}
		add({ ...manifest, name, version }, { tarball, integrity: String(integrity), shasum: String(shasum) }, tag);
		return sendOrFail(response, { status: 201 }, "application/json", Buffer.from("{}"));
	}

	function add(manifest: Published["manifest"], archive: Omit<Published, "manifest">, tag = "latest"): void {
		const { name, version } = manifest;
		const listing = packages.get(name) ?? { versions: new Map(), tags: new Map() };
		listing.versions.set(version, { manifest, ...archive });
		listing.tags.set(tag, version);
		packages.set(name, listing);
	}

	return {
		url,
		env: {
			npm_config_registry: url,
			npm_config_userconfig: join(own, ".npmrc"),
			npm_config_globalconfig: join(own, "no-global-npmrc"),
			npm_config_cache: join(own, "cache"),
		},
		requests,
		publish,
		publishDirectory: (directory, tag) => publish(readPackage(directory), tag),
		unpublish(name, version) {
			const listing = packages.get(name);
			if (!listing?.versions.delete(version)) throw new Error(`${name}@${version} is not published`);
			const last = [...listing.versions.keys()].at(-1);
			for (const [tag, tagged] of listing.tags) {
				if (tagged !== version) continue;
				if (last === undefined) listing.tags.delete(tag);
				else listing.tags.set(tag, last);
			}
			if (last === undefined) packages.delete(name);
		},
		tamper({ name, version, files }) {
			const published = packages.get(name)?.versions.get(version);
			if (!published) throw new Error(`${name}@${version} is not published`);
			published.tarball = packTarball(files);
		},
		fail(name, what, fault) {
			if (fault) faults.set(`${name} ${what}`, fault);
			else faults.delete(`${name} ${what}`);
		},
		configure: (home) => writeFiles(home, config),
	};
}

/** The last part of the address of a tarball: scopes are not part of it. */
function fileOf({ name, version }: { name: string; version: string }): string {
	return `${name.replace(/^@.*\//, "")}-${version}.tgz`;
}
