import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { digestContext } from "../../context/digest.js";
import { countPrefix, fullText } from "../../context/ledger.js";
import type { ContextRecord } from "../../log/entry.js";

/** A message that may be what differs. */
export interface SuspectMessage {
	/** Position in the request as it is computed now, from 0. */
	position: number;
	entryIndex: number | null;
	role: string;
	origin: { kind: string; hook?: string };
	text: string;
}

/** Why a request is not what it was. */
export interface MismatchReason {
	/** A sentence. */
	reason: string;
	/** The first message that differs, or that may; null when it is one that is not there any more. */
	message: SuspectMessage | null;
	/** Path of the hook that explains the difference; null when none does. */
	hook: string | null;
}

/** What there is to reason from: of the request as it was, only the digest of the whole is known. */
export interface MismatchEvidence {
	recorded: ContextRecord;
	computed: readonly TracedMessage[];
	/** The last request that was as recorded. */
	verified: readonly TracedMessage[];
	/** The last entry before the reply that belongs to no loaded hook; null when there is none. */
	foreign: { entryIndex: number; type: string } | null;
	/** Paths of the hooks that change the context. */
	hooks: readonly string[];
	/** The same request without some hooks. */
	buildWithout(hooks: ReadonlySet<string>): Promise<BuiltContext>;
}

/** Requests longer than this are not searched for a stretch to leave out: the work grows with the square. */
const MAX_SEARCHED = 2000;

/** Finds the smallest change that makes a request what it was; else narrows down where the change is. */
export async function explainMismatch(evidence: MismatchEvidence): Promise<MismatchReason> {
	return (await blameHooks(evidence)) ?? findExtra(evidence) ?? findMissingHook(evidence) ?? narrowDown(evidence);
}

/** Without a hook, or without all, the request is what was sent: the hook was not there then, or did something else. */
async function blameHooks(evidence: MismatchEvidence): Promise<MismatchReason | null> {
	const { hooks, computed, recorded, buildWithout } = evidence;
	const trials = hooks.map((hook) => [hook]);
	if (hooks.length > 1) trials.push([...hooks]);
	for (const trial of trials) {
		const { messages } = await buildWithout(new Set(trial));
		const plain = messages.map(({ message }) => message);
		if (digestContext(plain) !== recorded.digest) continue;
		const position = countPrefix(plain, computed);
		const [hook = null] = trial.length === 1 ? trial : [];
		return {
			reason: `Without ${trial.join(", ")} it is what was sent: the hook was not loaded then, or did something else`,
			message: suspect(computed, position),
			hook,
		};
	}
	return null;
}

/** Without a stretch of messages the request is what was sent. */
function findExtra({ computed, recorded }: MismatchEvidence): MismatchReason | null {
	const extra = computed.length - recorded.messages;
	if (extra <= 0 || computed.length > MAX_SEARCHED) return null;
	const plain = computed.map(({ message }) => message);
	for (let position = 0; position <= recorded.messages; position++) {
		const rest = [...plain.slice(0, position), ...plain.slice(position + extra)];
		if (digestContext(rest) !== recorded.digest) continue;
		const message = suspect(computed, position);
		return {
			reason: extra === 1 ? "One message was not in it then" : `${extra} messages in a row were not in it then`,
			message,
			hook: message?.origin.hook ?? null,
		};
	}
	return null;
}

/** There are entries of a hook that is not loaded: what it made of them cannot be known. */
function findMissingHook({ foreign }: MismatchEvidence): MismatchReason | null {
	if (foreign === null) return null;
	const { entryIndex, type } = foreign;
	const reason = `Entry ${entryIndex} is a ${type} of a hook that is not loaded; name the hook's file with --hook`;
	return { reason, message: null, hook: null };
}

/** What was in the last request that was right is not what differs, so it is something after that. */
function narrowDown({ computed, verified, recorded }: MismatchEvidence): MismatchReason {
	const position = countPrefix(
		verified.map(({ message }) => message),
		computed,
	);
	const message = suspect(computed, position);
	const missing = recorded.messages > computed.length;
	const cause = missing
		? "A hook that hid or replaced less then has changed, a hook that added messages is missing, or entries were removed"
		: "A hook has changed or is missing, or the file was edited";
	return { reason: cause, message, hook: message?.origin.hook ?? null };
}

function suspect(messages: readonly TracedMessage[], position: number): SuspectMessage | null {
	const traced = messages[position];
	if (!traced) return null;
	const { message, entryIndex, origin } = traced;
	return {
		position,
		entryIndex,
		role: message.role,
		origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
		text: fullText(message),
	};
}
