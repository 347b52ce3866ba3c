import Storage
import StoreModel

/// What a look at the folder for a shared store's assets shows: whether it is the one that the store's
/// servers have. Nothing there is changed.
public struct AssetFolderExamination: Sendable, Hashable {
  /// The file in the folder that names the store.
  public static let identityFile = FileAssetStore.identityFile

  public enum Identity: Sendable, Hashable {
    case known(String)
    /// There is no file with it, or no folder.
    case missing
    /// Why it cannot be read.
    case unreadable(String)
  }

  public var directory: String
  public var identity: Identity

  /// Looks into a folder. Blocks as long as its file system does.
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
