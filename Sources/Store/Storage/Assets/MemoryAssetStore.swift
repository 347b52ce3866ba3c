import Foundation
import StoreModel
import Synchronization

/// A storage of assets in memory, for stores in memory.
///
/// The bytes are lost when the object is released. A mutex guards the bytes, so several threads may
/// use the object.
public final class MemoryAssetStore: AssetStore {
  /// The bytes by their names.
  private let kept = Mutex<[AssetName: Data]>([:])

  /// Creates an empty storage.
  public init() {}

  /// nil: the storage has no folder for arriving files.
  public var arrivals: String? { nil }

  /// The number of assets.
  public var count: Int { kept.withLock { $0.count } }

  /// Stores the bytes in memory, and replaces earlier bytes under the name. If the bytes are in a
  /// file, the file is read and then removed.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the file cannot be read or removed.
  public func keep(_ bytes: AssetBytes, as name: AssetName) async throws {
    let data: Data
    switch bytes {
    case .data(let given): data = given
    case .file(let path):
      data = try await AssetFiles.perform {
        do {
          let data = try Data(contentsOf: URL(fileURLWithPath: path))
          try FileManager.default.removeItem(atPath: path)
          return data
        } catch {
          throw StoreError(.assetFailed, "the asset's bytes in \(path) cannot be read: \(error)")
        }
      }
    }
    kept.withLock { $0[name] = data }
  }

  /// Returns a reader of the bytes under a name; nil if there are none. The method never throws.
  public func open(_ name: AssetName) async throws -> (any AssetReader)? {
    kept.withLock { $0[name] }.map { Reader(data: $0) }
  }

  /// Removes the bytes under a name, if there are any. Open readers keep their bytes.
  public func remove(_ name: AssetName) async throws {
    _ = kept.withLock { $0.removeValue(forKey: name) }
  }

  /// A reader of one asset, with a copy of its bytes.
  private struct Reader: AssetReader {
    let data: Data
    var size: Int64 { Int64(data.count) }

    func read(at offset: Int64, count: Int) async throws -> Data {
      Data(data.dropFirst(Int(offset)).prefix(count))
    }
  }
}
