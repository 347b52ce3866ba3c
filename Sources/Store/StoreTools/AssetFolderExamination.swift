import Storage
import StoreModel

/// The result of inspecting the folder for a shared store's assets: whether it is the folder of the
/// store's servers. The inspection changes nothing.
public struct AssetFolderExamination: Sendable, Hashable {
  /// The file in the folder with the store's identity.
  public static let identityFile = FileAssetStore.identityFile

  public enum Identity: Sendable, Hashable {
    case known(String)
    /// The file or the folder is missing.
    case missing
    /// The file cannot be read, with the reason.
    case unreadable(String)
  }

  public var directory: String
  public var identity: Identity

  /// Inspects a folder. Blocks as long as its file system does.
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

  public init(directory: String, identity: Identity) {
    self.directory = directory
    self.identity = identity
  }
}
