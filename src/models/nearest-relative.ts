import type { Api, Model } from "@mariozechner/pi-ai";
import { chooseDefault } from "./default-model.js";
import { compareVersions, type IdWords, isAlias, readIdWords } from "./id-words.js";
import type { KnownModel } from "./model-facts.js";

interface Candidate {
	model: Model<Api>;
	words: IdWords;
}

/** How well a model fits as the source of facts. */
interface Likeness {
	/** Words in common, in the same order. */
	shared: number;
	/** Words at the start that are the same. */
	prefix: number;
	/** Not newer than the id, as far as it has a version. */
	isOlder: boolean;
}

/**
 * The model whose facts a model with an unknown id gets: that with most words in common, then the longest common start, then
 * the newest that is not newer than the id.
 * @param models those of the provider
 * @param usual the provider's default model
 * @returns the default model if nothing resembles the id; undefined without models
 */
export function nearestRelative(
	id: string,
	models: readonly Model<Api>[],
	usual: Model<Api> | undefined = chooseDefault(models),
): Model<Api> | undefined {
	return relativesAmong(models, usual)(id);
}

/** The same for many ids: reads the list once. */
export function relativesAmong(
	models: readonly Model<Api>[],
	usual: Model<Api> | undefined = chooseDefault(models),
): (id: string) => Model<Api> | undefined {
	const find = resemblingAmong(models, usual);
	return (id) => find(id) ?? usual;
}

/** The same, but only a model whose id has a word in common with this one. @param usual preferred among equal ones */
export function nearestResembling(
	id: string,
	models: readonly Model<Api>[],
	usual: Model<Api> | undefined,
): Model<Api> | undefined {
	return resemblingAmong(models, usual)(id);
}

function resemblingAmong(
	models: readonly Model<Api>[],
	usual: Model<Api> | undefined,
): (id: string) => Model<Api> | undefined {
	const byWord = new Map<string, Candidate[]>();
	for (const model of models) {
		const candidate = { model, words: readIdWords(model.id) };
		for (const word of new Set(candidate.words.words)) {
			const known = byWord.get(word);
			if (known) known.push(candidate);
			else byWord.set(word, [candidate]);
		}
	}
	return (id) => {
		const wanted = readIdWords(id);
		const sharing = new Set(wanted.words.flatMap((word) => byWord.get(word) ?? []));
		return nearest(wanted, [...sharing], usual);
	};
}

function nearest(wanted: IdWords, all: readonly Candidate[], usual: Model<Api> | undefined): Model<Api> | undefined {
	let best: { candidate: Candidate; likeness: Likeness } | null = null;
	for (const candidate of all) {
		const likeness = likenessOf(wanted, candidate.words);
		const difference = best ? compareLikeness(likeness, best.likeness) : 1;
		const isBetter = difference !== 0 ? difference > 0 : best && isCloser(candidate, best.candidate, likeness, usual);
		if (isBetter) best = { candidate, likeness };
	}
	return best?.candidate.model;
}

/** Decides between two models with the same likeness. */
function isCloser(a: Candidate, b: Candidate, { isOlder }: Likeness, usual: Model<Api> | undefined): boolean {
	const difference =
		compareAges(a.words, b.words, isOlder) ||
		a.words.words.length - b.words.words.length ||
		Number(isSpecial(a.words)) - Number(isSpecial(b.words)) ||
		Number(b.model === usual) - Number(a.model === usual) ||
		b.model.cost.output - a.model.cost.output;
	return difference !== 0 ? difference < 0 : a.model.id < b.model.id;
}

/** A model that pi-ai's list lacks, with the facts of a relative but for its name, its price and its date. */
export function relatedModel(id: string, relative: Model<Api>): KnownModel {
	const { released: _, retired: __, assumed: ___, ...facts }: KnownModel = relative;
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	return { ...facts, id, name: id, cost, relative: relative.id };
}

/** The same for a model of which nothing is known but the id. */
export function assumeModel(id: string, relative: Model<Api>): KnownModel {
	return { ...relatedModel(id, relative), assumed: true };
}

function likenessOf(wanted: IdWords, { words, version }: IdWords): Likeness {
	const isOlder = wanted.version.length === 0 || compareVersions(version, wanted.version) <= 0;
	return { shared: sharedWords(wanted.words, words), prefix: commonStart(wanted.words, words), isOlder };
}

function compareLikeness(a: Likeness, b: Likeness): number {
	return a.shared - b.shared || a.prefix - b.prefix || Number(a.isOlder) - Number(b.isOlder);
}

/** The newest of those that are not newer than the id, else the oldest. */
function compareAges(a: IdWords, b: IdWords, areOlder: boolean): number {
	const difference = compareVersions(b.version, a.version);
	return areOlder ? difference : -difference;
}

/** Length of the longest list of words that both contain in this order. */
function sharedWords(a: readonly string[], b: readonly string[]): number {
	let row = new Array<number>(b.length + 1).fill(0);
	for (const word of a) {
		const next = [0];
		for (const [index, other] of b.entries()) {
			next.push(word === other ? (row[index] ?? 0) + 1 : Math.max(next[index] ?? 0, row[index + 1] ?? 0));
		}
		row = next;
	}
	return row[b.length] ?? 0;
}

function commonStart(a: readonly string[], b: readonly string[]): number {
	const end = a.findIndex((word, index) => word !== b[index]);
	return end === -1 ? a.length : end;
}

function isSpecial(words: IdWords): boolean {
	return words.isDated || isAlias(words);
}
