import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { SETTING_ROWS } from "../../src/config/settings-schema.js";
import { fleetFile } from "../helpers/fleet-files.js";

const pkg = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

test("the Kubernetes Job has the fields of batch/v1, and pods that match its rules", () => {
	const job = parse(fleetFile("job.yaml"));
	const { spec } = job;
	expect({ apiVersion: job.apiVersion, kind: job.kind, name: job.metadata.name }).toEqual({
		apiVersion: "batch/v1",
		kind: "Job",
		name: expect.stringMatching(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
	});
	expect(Object.keys(spec).sort()).toEqual([
		"activeDeadlineSeconds",
		"backoffLimit",
		"completionMode",
		"completions",
		"parallelism",
		"podFailurePolicy",
		"template",
	]);
	for (const name of ["completions", "parallelism", "backoffLimit", "activeDeadlineSeconds"]) {
		expect(Number.isInteger(spec[name]), name).toBe(true);
	}
	const pod = spec.template.spec;
	// A failure policy needs pods that are not started again, and names one of their containers.
	expect(pod.restartPolicy).toBe("Never");
	const [container, ...others] = pod.containers;
	expect(others).toEqual([]);
	expect(spec.podFailurePolicy.rules).toEqual([
		{ action: "FailJob", onExitCodes: { containerName: container.name, operator: "In", values: [2] } },
	]);
	const volumes = pod.volumes.map(({ name }: { name: string }) => name);
	expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
	for (const variable of container.env)
		expect(variable.value ?? variable.valueFrom.secretKeyRef.key).toBeTypeOf("string");
	expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
	// JOB_COMPLETION_INDEX is set for indexed Jobs only; the script ends with the exit code of pi.
	expect(spec.completionMode).toBe("Indexed");
	expect(container.args[0].trim()).toMatch(/^git clone .*JOB_COMPLETION_INDEX.* pi -p --mode json [^;|]*"\$prompt"$/s);
});

test("the workflow ends with the exit code of pi, and keeps the results of a failure", () => {
	const { jobs } = parse(fleetFile(".github/workflows/pi.yml"));
	const { steps } = jobs.review;
	const run = steps.find((step: { run?: string }) => step.run?.startsWith("pi "));
	expect(run.run).not.toMatch(/[|;&]/);
	expect(steps.at(-1)).toMatchObject({ if: "always()", with: { path: "events.jsonl\nsessions\n" } });
	expect(steps.find((step: { run?: string }) => step.run?.startsWith("npm")).run).toContain(pkg.name);
});

test("the Containerfile installs pi for a user who is not root", () => {
	const lines = fleetFile("Containerfile").replaceAll("\\\n", "").trim().split("\n");
	const words = lines.map((line) => line.split(" ")[0]);
	expect(words).toEqual(["FROM", "RUN", "RUN", "USER", "ENV", "WORKDIR", "ENTRYPOINT"]);
	const version = Number(/node:(\d+)/.exec(lines[0] ?? "")?.[1]);
	expect(version).toBeGreaterThanOrEqual(Number(/\d+/.exec(pkg.engines.node)?.[0]));
	expect(lines[2]).toBe(`RUN npm install --global --ignore-scripts ${pkg.name}`);
	expect(lines.at(-1)).toBe(`ENTRYPOINT ["${Object.keys(pkg.bin)[0]}"]`);
});

test("the settings exist", () => {
	const { budget, ...others } = JSON.parse(fleetFile("settings.json"));
	expect(others).toEqual({});
	const keys = SETTING_ROWS.map(({ path }) => path);
	expect(keys).toEqual(expect.arrayContaining(Object.keys(budget).map((name) => `budget.${name}`)));
});
