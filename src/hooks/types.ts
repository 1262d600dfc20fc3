import type { FoundSession, PastSession, SessionHit } from "../log/past-sessions.js";
import type { RequestAuth } from "../models/credentials.js";
import type { Approval, ApprovalAlternative, ApprovalAnswer, ApprovalSubject } from "../util/approval.js";
import type { ExecOptions, ExecResult } from "../util/process.js";
import type { HostHandleName, SystemItem, SystemItemsHandle } from "./granted-handles.js";

/** The types of the hook API: what hooks register, receive and return. */
export type * from "./types/api.js";
export type * from "./types/attachment.js";
export type * from "./types/context.js";
export type * from "./types/events.js";
export type * from "./types/machines.js";
export type * from "./types/notices.js";
export type * from "./types/sessions.js";
export type * from "./types/tool-switch.js";
export type * from "./types/tools.js";
export type * from "./types/ui.js";
export type * from "./types/user-events.js";
export type {
	Approval,
	ApprovalAlternative,
	ApprovalAnswer,
	ApprovalSubject,
	ExecOptions,
	ExecResult,
	FoundSession,
	HostHandleName,
	PastSession,
	RequestAuth,
	SessionHit,
	SystemItem,
	SystemItemsHandle,
};
