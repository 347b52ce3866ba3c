import Foundation
import PetrelServer
import SQLEngine
import Settings
import Storage
import StoreTools

/// The check of the asset folder for a store in PostgreSQL. All servers of the store must use the
/// same folder. A file in the folder contains its identity, which the store knows.
struct AssetFolderCheck: Sendable {
  let address: PostgreSQLAddress
  let directory: String

  /// Compares the folder's identity with the one in the store; returns nothing if the store cannot
  /// be read.
  func findings() async -> [Finding] {
    // The check of the store reports an unreachable store.
    guard let store = try? await PostgreSQLExamination.look(at: address) else { return [] }
    let identity = await withCheckedContinuation { continuation in
      let thread = Thread { [directory] in
        continuation.resume(returning: AssetFolderIdentity.look(into: directory))
      }
      thread.start()
    }
    return [Self.judge(identity, of: directory, for: store)]
  }

  /// Returns the finding for a folder and a store. A wrong folder is a problem if the store has
  /// assets, because a server then refuses to start. Without assets in the store, it is a warning.
  /// An identity that cannot be read is always a problem.
  static func judge(
    _ identity: AssetFolderIdentity, of directory: String, for store: PostgreSQLExamination
  ) -> Finding {
    guard let wanted = store.assetFolder else {
      return .ok("no server has saved assets of the store yet; the first one uses \(directory)")
    }
    let refusal =
      store.hasAssets
      ? "a server would not start with it" : "a server would start with it but refuse assets"
    let advice = "set assetDirectory to the folder of the store's other servers"
    let (text, remedy): (String, String)
    switch identity {
    case .known(wanted): return .ok("\(directory) is the folder of the store's assets")
    case .known:
      (text, remedy) = ("\(directory) has the assets of another store: \(refusal)", advice)
    case .missing:
      (text, remedy) = (
        "\(directory) has no \(AssetFolderIdentity.file), and the store uses another folder: \(refusal)",
        "\(advice), or mount that folder; if the assets are here, write the line \(wanted) into "
          + "\(directory)/\(AssetFolderIdentity.file)"
      )
    case .unreadable(let reason):
      return .problem(reason, "run this as the server's user, or restore the original file")
    }
    return store.hasAssets ? .problem(text, remedy) : .warning(text, remedy)
  }
}
