import Foundation
import StoreModel
import Synchronization

/// A storage of assets in memory, for stores in memory. The bytes are lost with the object.
public final class MemoryAssetStore: AssetStore {
  private let kept = Mutex<[AssetName: Data]>([:])

  /// Creates an empty storage.
  public init() {}

  /// Nil, since arrivals are in memory too.
  public var arrivals: String? { nil }

  /// The number of assets.
  public var count: Int { kept.withLock { $0.count } }

  /// Stores the bytes in memory, and replaces earlier ones. A given file is read and then removed.
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

  /// Returns a reader with a copy of the bytes; nil if there are none.
  public func open(_ name: AssetName) async throws -> (any AssetReader)? {
    kept.withLock { $0[name] }.map { Reader(data: $0) }
  }

  /// Removes the bytes under a name, if there are any.
  public func remove(_ name: AssetName) async throws {
    _ = kept.withLock { $0.removeValue(forKey: name) }
  }

  /// A reader of one asset.
  private struct Reader: AssetReader {
    let data: Data
    var size: Int64 { Int64(data.count) }

    func read(at offset: Int64, count: Int) async throws -> Data {
      Data(data.dropFirst(Int(offset)).prefix(count))
    }
  }
}
