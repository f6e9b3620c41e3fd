/** Folders of a machine, among which the one of a workspace is chosen. */
import { ask } from "./app";

export function listFolders(
  deviceId: number,
  path: string | undefined,
): Promise<{ path: string; folders: string[]; truncated: boolean }> {
  return ask(
    deviceId,
    (requestId) => ({ type: "folder_list", payload: { path, requestId } }),
    (frame) =>
      frame.type === "folder_list_result"
        ? {
            value: {
              path: frame.payload.path,
              folders: frame.payload.folders,
              truncated: frame.payload.truncated === true,
            },
          }
        : null,
  );
}

/** Makes a folder in another one, and says where it is. */
export function createFolder(deviceId: number, path: string, name: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "folder_create", payload: { path, name, requestId } }),
    (frame) => (frame.type === "folder_create_result" ? { value: frame.payload.path ?? path } : null),
  );
}

/** Gives a folder another name where it is, and says where it is then. */
export function renameFolder(deviceId: number, path: string, newName: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "folder_rename", payload: { path, newName, requestId } }),
    (frame) => (frame.type === "folder_rename_result" ? { value: frame.payload.path ?? path } : null),
  );
}
