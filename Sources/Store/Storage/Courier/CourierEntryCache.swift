import Foundation
import StoreModel
import Synchronization

/// The log entries that readers of the web courier got last, with their payloads, so that the event
/// streams of one user read and encode an entry once.
///
/// An entry never changes, so nothing becomes invalid. Readers find entries by the index of the
/// log, which no longer has a deleted entry. The cache has two generations. When the young one is
/// full, it becomes the old one, whose entries are dropped unless a reader got them meanwhile.
public final class CourierEntryCache: Sendable {
  /// The place of an entry in all logs.
  private struct Key: Hashable {
    let database: DatabaseID
    let sequence: Int64
  }

  /// A cached entry.
  private struct Cached {
    let entry: LogEntry
    var bytes: Int
    var payload: Data?
  }

  /// The state behind the mutex.
  private struct State {
    var young: [Key: Cached] = [:]
    var old: [Key: Cached] = [:]
    var youngBytes = 0

    func cached(_ key: Key) -> Cached? { young[key] ?? old[key] }

    mutating func keep(_ cached: Cached, _ key: Key, limit: Int) {
      youngBytes += cached.bytes - (young.updateValue(cached, forKey: key)?.bytes ?? 0)
      guard youngBytes > limit else { return }
      old = young
      young = [:]
      youngBytes = 0
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter bytes: the approximate most bytes of the entries and payloads.
  public init(bytes: Int = 8 << 20) { limit = bytes / 2 }

  /// - Parameter read: returns the entry and the size of its stored content in bytes.
  public func entry(
    _ sequence: Int64, in database: DatabaseID, read: () throws -> (entry: LogEntry, size: Int)
  ) rethrows -> LogEntry {
    let key = Key(database: database, sequence: sequence)
    let cached = state.withLock { state in
      let cached = state.cached(key)
      if let cached { state.keep(cached, key, limit: limit) }
      return cached
    }
    if let cached { return cached.entry }
    let (entry, size) = try read()
    state.withLock { $0.keep(Cached(entry: entry, bytes: size), key, limit: limit) }
    return entry
  }

  /// The cache keeps the payload if it has the entry.
  public func payload(of entry: LogEntry, encode: () -> Data) -> Data {
    let key = Key(database: entry.database, sequence: entry.sequence)
    if let payload = state.withLock({ $0.cached(key)?.payload }) { return payload }
    let payload = encode()
    state.withLock { state in
      guard var cached = state.cached(key), cached.payload == nil else { return }
      cached.payload = payload
      cached.bytes += payload.count
      state.keep(cached, key, limit: limit)
    }
    return payload
  }
}
