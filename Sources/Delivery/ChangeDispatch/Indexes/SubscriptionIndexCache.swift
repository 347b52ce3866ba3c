import StoreModel

/// The cache of the matching indexes of databases and parts, as a value. If the indexes need too
/// much memory, the cache removes the least recently used ones (*evicts* them).
struct SubscriptionIndexCache: Sendable {
  /// An index in the cache.
  private struct Place {
    /// The index; `nil` while it is in use.
    var index: DatabaseIndex?
    /// The approximate memory of the index in bytes.
    var bytes = 0
    /// The value of ``uses`` when the index was last returned to the cache.
    var lastUse: UInt64 = 0
  }

  /// The greatest memory of all indexes in bytes.
  let limit: Int
  /// The memory of all indexes in bytes, those in use included.
  private(set) var bytes = 0
  private(set) var evictions = 0
  /// The indexes, those in use included.
  private var places: [DatabasePart: Place] = [:]
  private var uses: UInt64 = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of indexes, those in use included.
  var count: Int { places.count }

  /// Returns an index; `nil` if the cache has none. In both cases, the index counts as in use until
  /// ``put(_:for:)``. An index in use is not evicted.
  mutating func take(_ part: DatabasePart) -> DatabaseIndex? {
    // The caller must have the only copy. If the cache kept one too, a change would copy the whole
    // index.
    let place = places.updateValue(Place(), forKey: part)
    places[part]?.bytes = place?.bytes ?? 0
    return place?.index
  }

  /// Sets the size in bytes of an index in use. Returns the indexes that are evicted because of
  /// this size.
  mutating func setSize(_ bytes: Int, of part: DatabasePart) -> [DatabaseIndex] {
    guard let place = places[part] else { return [] }
    self.bytes += bytes - place.bytes
    places[part]?.bytes = bytes
    return evict(except: part)
  }

  /// Stores an index after its use. Returns the indexes that are evicted because of its size.
  mutating func put(_ index: DatabaseIndex, for part: DatabasePart) -> [DatabaseIndex] {
    let gone = setSize(index.bytes, of: part)
    uses += 1
    places[part]?.index = index
    places[part]?.lastUse = uses
    return gone
  }

  /// Removes an index that is not in use, and returns it; `nil` if there is none.
  mutating func drop(_ part: DatabasePart) -> DatabaseIndex? {
    guard let index = places[part]?.index else { return nil }
    bytes -= places.removeValue(forKey: part)?.bytes ?? 0
    return index
  }

  /// Evicts the least recently used indexes if all together exceed the limit.
  ///
  /// The index of `latest` stays even if it alone exceeds the limit. The next change would
  /// otherwise read it again from the store.
  ///
  /// - Complexity: O(*n* log *n*) if the limit is exceeded, where *n* is the number of indexes;
  ///   otherwise O(1).
  private mutating func evict(except latest: DatabasePart) -> [DatabaseIndex] {
    guard bytes > limit else { return [] }
    let idle = places.filter { $0.key != latest && $0.value.index != nil }
      .sorted { $0.value.lastUse < $1.value.lastUse }
    var gone: [DatabaseIndex] = []
    // More indexes than needed are evicted, down to seven eighths of the limit. Otherwise each use
    // would evict one.
    let aim = limit - limit / 8
    for (part, place) in idle where bytes > aim {
      guard let index = place.index else { continue }
      gone.append(index)
      places[part] = nil
      bytes -= place.bytes
      evictions += 1
    }
    return gone
  }
}
