import type { ModelOffer, ModelQuestion, ModelUpdates } from "../../../commands/pickers.js";
import { describeError } from "../../../errors.js";
import { THINKING_LEVELS } from "../../../log/entry.js";
import { fitsVersions } from "../../../models/id-words.js";
import { sortByLikelihood } from "../../../models/likelihood.js";
import { type KnownModel, modelFacts } from "../../../models/model-facts.js";
import { readPatterns } from "../../../models/model-match.js";
import { type ModelSearch, readModelSearch, SEARCH_WORDS } from "../../../models/model-search.js";
import { modelName, type ResolvedModel } from "../../../models/models.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { fuzzyFilter } from "../../../tui/fuzzy.js";
import { type SelectColumn, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import { wordPositions } from "../../../tui/select-row.js";
import { plural } from "../../../util/format-amounts.js";

const LOOKING = "looking for local servers …";

/** Settings and callbacks of a model picker. */
export interface ModelPickerOptions extends ModelQuestion {
	/** Ends the search for local servers. */
	signal: AbortSignal;
	requestRender(): void;
	onClose(choice: ResolvedModel | null): void;
}

const COLUMNS: readonly SelectColumn[] = [
	{ align: "right", rank: 2 },
	{ align: "right", rank: 3 },
	{ align: "left", rank: 4 },
	{ align: "left", rank: 1 },
];
const KEY_WORDS: Readonly<Record<ModelOffer["key"], string>> = {
	key: "key",
	login: "login",
	local: "local",
	none: "no key",
};

/**
 * Lists all known models: usable ones first, the others dimmed. Searches for local servers in the background. Words such
 * as `vision` and `<$1` filter by properties; `:high` after the typed text sets the thinking level, as on the command line.
 */
export function createModelPicker(style: DialogStyle, options: ModelPickerOptions): SelectDialog<string> {
	const { models, current, signal, requestRender, onClose } = options;
	const { updates } = models;
	const currentName = current && modelName(current);
	const list = () => inOrder(sortOffers(models.offers()));
	let offers = list();
	let all = offers.map((offer) => toItem(offer, currentName));
	const reload = () => {
		offers = list();
		all = offers.map((offer) => toItem(offer, currentName));
		dialog.refresh();
	};
	const find = (filter: string) => {
		const { text, accepts } = searchOf(filter, offers);
		const accepted = offers.filter(
			({ model, key, isPriced }) =>
				accepts({ model, isPriced, isLocal: key === "local" }) && fitsVersions(text, [model.id, model.name]),
		);
		const found = fuzzyFilter(accepted, text, searchable);
		return inOrder(found).map((offer) => toItem(offer, currentName));
	};
	const dialog = new SelectDialog<string>(style, {
		title: () => {
			const age = updates ? ` · ${updates.age()}` : "";
			return `Which model? · ${offers.filter(isUsable).length} of ${offers.length} usable${age}`;
		},
		items: find,
		columns: COLUMNS,
		columnItems: () => all,
		cutsMiddle: true,
		selected: offers.findIndex(({ model }) => modelName(model) === currentName),
		isTall: true,
		details: ({ value }) => detailsOf(offers.find(({ model }) => modelName(model) === value)),
		positions: (filter, label) => wordPositions(searchOf(filter, offers).text, label),
		onFilter: (filter) => {
			const level = levelOf(filter, offers);
			dialog.note = level ? { text: `thinking: ${level}`, isProblem: false } : hintFor(filter);
		},
		...(updates && {
			actions: [{ key: "modelPicker.update" as const, label: "update", run: () => void update(updates) }],
		}),
		onSelect: (name, filter) => {
			const chosen = offers.find(({ model }) => modelName(model) === name);
			const thinkingLevel = levelOf(filter, offers);
			onClose(chosen ? { model: chosen.model, ...(thinkingLevel ? { thinkingLevel } : {}) } : null);
		},
		onCancel: () => onClose(null),
	});
	const note = (text: string, isProblem = false) => {
		if (signal.aborted) return;
		dialog.note = { text, isProblem };
		requestRender();
	};
	const update = async (source: ModelUpdates) => {
		try {
			const result = await source.update(({ left }) => note(updatingText(left)), signal);
			reload();
			note(result, / failed\b/.test(result));
		} catch (error) {
			note(describeError(error), true);
		}
	};
	dialog.note = { text: LOOKING, isProblem: false };
	void models
		.findLocal(signal)
		.catch(() => false) // a failed search lists nothing
		.then((isFound) => {
			if (signal.aborted) return;
			if (dialog.filter === "" && dialog.note?.text === LOOKING) dialog.note = hintFor("");
			if (isFound) reload();
			requestRender();
		});
	return dialog;
}

function sortOffers(offers: readonly ModelOffer[]): ModelOffer[] {
	const byModel = new Map(offers.map((offer) => [offer.model, offer]));
	return sortByLikelihood([...byModel.keys()]).flatMap((model) => byModel.get(model) ?? []);
}

/** @returns usable models first, retired ones after the others, otherwise in the given order */
function inOrder(offers: readonly ModelOffer[]): ModelOffer[] {
	const rank = (offer: ModelOffer) => (isUsable(offer) ? 0 : 2) + (isRetired(offer.model) ? 1 : 0);
	return offers.toSorted((a, b) => rank(a) - rank(b));
}

function isRetired({ retired }: KnownModel): boolean {
	return retired === true;
}

function isUsable({ key }: ModelOffer): boolean {
	return key !== "none";
}

function searchable({ model, key, source = "" }: ModelOffer): string {
	return `${modelName(model)} ${model.name} ${KEY_WORDS[key]} ${source}`;
}

function updatingText(left: number): string {
	return left === 0 ? "reading the answers …" : `asking ${plural(left, "provider")} for models …`;
}

/** The facts that the row abbreviates or has no room for. */
function detailsOf(offer: ModelOffer | undefined): string {
	if (!offer) return "";
	const { context, priceText, callsTools } = modelFacts(offer.model, offer.isPriced);
	const { retired, relative }: KnownModel = offer.model;
	const remarks = [
		!callsTools && "cannot call tools",
		retired && `no longer offered by ${offer.model.provider}`,
		relative !== undefined && `facts of ${relative}`,
	].filter((remark) => typeof remark === "string");
	return [offer.model.name, `${context} context`, priceText, ...remarks].join(" · ");
}

function toItem({ model, key, isPriced, source }: ModelOffer, currentName: string | null): SelectItem<string> {
	const name = modelName(model);
	const { context, price, thinks, seesImages, callsTools } = modelFacts(model, isPriced);
	const features = [thinks ? "think" : "", seesImages ? "img" : "", callsTools ? "" : "no tools"];
	const access = (key !== "none" && source) || KEY_WORDS[key];
	return {
		label: name,
		value: name,
		...(currentName === null ? {} : { sign: name === currentName ? "●" : " " }),
		// What counts most is in the column that narrow screens keep.
		fields: [context, price, features.filter(Boolean).join(" "), isRetired(model) ? "retired" : access],
		isDimmed: key === "none" || isRetired(model),
	};
}

/** What can be typed, while nothing is. */
function hintFor(filter: string): SelectDialog<string>["note"] {
	return filter === "" ? { text: `filter by name, ${SEARCH_WORDS}`, isProblem: false } : null;
}

/** The search that was typed, without a thinking level. */
function searchOf(filter: string, offers: readonly ModelOffer[]): ModelSearch {
	return readModelSearch(searchText(filter, offers));
}

/** @returns the typed text without a thinking level or the start of one, unless a model's name contains it */
function searchText(filter: string, offers: readonly ModelOffer[]): string {
	const colon = filter.lastIndexOf(":");
	const level = filter.slice(colon + 1);
	if (colon < 1 || !THINKING_LEVELS.some((name) => name.startsWith(level))) return filter;
	return isPartOfName(filter, offers) ? filter : filter.slice(0, colon);
}

function levelOf(filter: string, offers: readonly ModelOffer[]): ResolvedModel["thinkingLevel"] {
	return isPartOfName(filter, offers) ? undefined : readPatterns(filter).at(-1)?.thinkingLevel;
}

function isPartOfName(filter: string, offers: readonly ModelOffer[]): boolean {
	const text = filter.toLowerCase();
	return offers.some(({ model }) => modelName(model).toLowerCase().includes(text));
}
