// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { DeviceType, Right } from "./address";
import type { DeviceAdd, DeviceAddResult, DeviceRevoke, DeviceRevokeResult, DeviceRights, DeviceRightsResult, PairedList, PairedListResult, RightsChanged } from "./devices";
import type { ErrorCode, ErrorReport, Retry } from "./error";
import type { DeviceId, DeviceKey, IsoTime, Name, RequestId, Token } from "./ids";
import type { PairClosed, PairConfirm, PairConfirmResult, PairOffer, PairOfferResult, PairRequest, PairRequestResult, PairRequested, PairResult } from "./pairing";

/**
 * The first message of every device.
 */
export type Auth = { 
/**
 * What the device is.
 */
deviceType: DeviceType, 
/**
 * Which device: Pylons only.
 */
deviceId?: DeviceId, 
/**
 * The device's secret.
 */
token?: Token, 
/**
 * A name for people, if the device has one of its own.
 */
name?: Name, 
/**
 * The protocol version the device speaks; absent means 1.
 */
protocol?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The answer to `auth`.
 */
export type AuthResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The device as the relay knows it; only on success.
 */
device?: Device, 
/**
 * What the device may do; only on success.
 */
rights?: Array<Right>, 
/**
 * The paired device, the same after every reconnect; only on success, and only for clients.
 */
deviceKey?: DeviceKey, 
/**
 * The protocol version the relay speaks; absent means 1.
 */
protocol?: number, 
/**
 * The build of the relay.
 */
relayVersion?: string, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * A client went away.
 */
export type ClientDisconnect = { 
/**
 * Which one.
 */
deviceId: DeviceId, 
/**
 * What it was.
 */
deviceType: DeviceType, };

/**
 * The relay's greeting, before `auth`.
 */
export type Connected = { 
/**
 * A number of the connection, for logs.
 */
clientId: string, 
/**
 * A greeting for people.
 */
message: string, };

/**
 * A device that is connected now.
 */
export type ConnectedDevice = { 
/**
 * Which device.
 */
deviceId: DeviceId, 
/**
 * What it is.
 */
deviceType: DeviceType, 
/**
 * Its name.
 */
name: string, 
/**
 * Its icon, an emoji.
 */
icon: string, 
/**
 * What it is for: `home`, `office`, `client`.
 */
role: string, 
/**
 * Since when.
 */
connectedAt: IsoTime, };

/**
 * A device, as people see it.
 */
export type Device = { 
/**
 * Which device.
 */
deviceId: DeviceId, 
/**
 * What it is.
 */
deviceType: DeviceType, 
/**
 * Its name.
 */
name: string, 
/**
 * Its icon, an emoji.
 */
icon: string, 
/**
 * What it is for: `home`, `office`, `client`.
 */
role: string, };

/**
 * Who is connected.
 */
export type DeviceList = { 
/**
 * All of them, by id; in a very large realm those that a list has room for, all Pylons among them.
 */
devices: Array<ConnectedDevice>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * How many more are connected.
 */
unlisted?: number, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Everybody who is connected in the realm. Sent after each change; changes close together make one message.
 */
export type DeviceStatus = { 
/**
 * All of them, by id; in a very large realm those that a list has room for, all Pylons among them.
 */
devices: Array<ConnectedDevice>, 
/**
 * How many more are connected. Whoever is not listed then is not known to be away.
 */
unlisted?: number, };

/**
 * What the relay answers itself.
 */
export type DeviceToRelay = { "type": "auth", "payload": Auth } | { "type": "get_devices", "payload"?: GetDevices } | { "type": "ping", "payload"?: Ping } | { "type": "relay_version", "payload"?: RelayVersion } | { "type": "relay_update", "payload"?: RelayUpdate } | { "type": "pair_offer", "payload"?: PairOffer } | { "type": "pair_request", "payload": PairRequest } | { "type": "pair_confirm", "payload": PairConfirm } | { "type": "paired_list", "payload"?: PairedList } | { "type": "device_add", "payload": DeviceAdd } | { "type": "device_revoke", "payload": DeviceRevoke } | { "type": "device_rights", "payload": DeviceRights };

/**
 * Asks who is connected.
 */
export type GetDevices = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks whether the relay is still there.
 */
export type Ping = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The relay is still there.
 */
export type Pong = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The relay is about to restart. Reconnect as usual.
 */
export type RelayRestarting = { 
/**
 * Why, for people.
 */
reason?: string, };

/**
 * What the relay says itself; these messages have no `from`.
 */
export type RelayToDevice = { "type": "connected", "payload": Connected } | { "type": "auth_result", "payload": AuthResult } | { "type": "device_status", "payload": DeviceStatus } | { "type": "client_disconnect", "payload": ClientDisconnect } | { "type": "device_list", "payload": DeviceList } | { "type": "pong", "payload"?: Pong } | { "type": "relay_version_result", "payload": RelayVersionResult } | { "type": "relay_update_result", "payload": RelayUpdateResult } | { "type": "relay_restarting", "payload"?: RelayRestarting } | { "type": "pair_offer_result", "payload": PairOfferResult } | { "type": "pair_request_result", "payload": PairRequestResult } | { "type": "pair_requested", "payload": PairRequested } | { "type": "pair_confirm_result", "payload": PairConfirmResult } | { "type": "pair_result", "payload": PairResult } | { "type": "pair_closed", "payload": PairClosed } | { "type": "paired_list_result", "payload": PairedListResult } | { "type": "device_add_result", "payload": DeviceAddResult } | { "type": "device_revoke_result", "payload": DeviceRevokeResult } | { "type": "device_rights_result", "payload": DeviceRightsResult } | { "type": "rights_changed", "payload": RightsChanged } | { "type": "error", "payload": ErrorReport };

/**
 * Asks the relay to update itself; Pylons only.
 */
export type RelayUpdate = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the relay updates itself.
 */
export type RelayUpdateResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The commit it goes to.
 */
commit?: string, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Asks for the build of the relay.
 */
export type RelayVersion = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The build of the relay.
 */
export type RelayVersionResult = { 
/**
 * Its commit.
 */
commit: string, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };
