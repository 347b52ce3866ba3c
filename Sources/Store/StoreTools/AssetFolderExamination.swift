import Storage
import StoreModel

/// The result of inspecting the folder for a shared store's assets: whether it is the folder of the
/// store's servers. The inspection changes nothing.
///
/// Servers on one store need one folder. The first server writes an identity into the folder and
/// the same identity into the store, so `petrel doctor` can compare the two.
public struct AssetFolderExamination: Sendable, Hashable {
  /// The file in the folder with the store's identity.
  public static let identityFile = FileAssetStore.identityFile

  /// The result of reading the file with the identity.
  public enum Identity: Sendable, Hashable {
    /// The identity in the file.
    case known(String)
    /// The file or the folder is missing.
    case missing
    /// The file cannot be read, for this reason.
    case unreadable(String)
  }

  /// The folder's path.
  public var directory: String
  /// The identity of the folder.
  public var identity: Identity

  /// Inspects a folder. The call blocks the thread as long as the folder's file system does.
  public static func look(into directory: String) -> AssetFolderExamination {
    let identity: Identity
    do {
      let path = directory + "/" + identityFile
      identity = try FileAssetStore.identity(in: path).map { .known($0) } ?? .missing
    } catch {
      identity = .unreadable((error as? StoreError)?.reason ?? "\(error)")
    }
    return AssetFolderExamination(directory: directory, identity: identity)
  }

  /// Creates a result from a path and an identity that were read before.
  public init(directory: String, identity: Identity) {
    self.directory = directory
    self.identity = identity
  }
}
