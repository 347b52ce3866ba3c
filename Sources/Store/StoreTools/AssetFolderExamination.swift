import Storage
import StoreModel

/// An inspection of a folder for assets, which changes nothing.
///
/// All servers on a store must use the same folder. The first server writes the same identity into
/// the folder and into the store; `petrel doctor` compares the two.
public struct AssetFolderExamination: Sendable, Hashable {
  /// The file in the folder with the store's identity.
  public static let identityFile = FileAssetStore.identityFile

  /// The identity of a folder.
  public enum Identity: Sendable, Hashable {
    /// The file was read; the value is the identity.
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

  /// Inspects a folder. A file system that does not answer blocks the thread.
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

  /// Creates a result that was read before.
  public init(directory: String, identity: Identity) {
    self.directory = directory
    self.identity = identity
  }
}
