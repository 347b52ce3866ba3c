import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import ChangeDispatch

struct SubscriptionIndexCacheTests {
  private static let databases = (1...4).map { DatabasePart.whole(DatabaseID(rawValue: $0)) }

  @Test("the index that went unused longest goes when there is not enough memory")
  func leastRecentlyUsed() {
    let size = Self.index(10).bytes
    var cache = SubscriptionIndexCache(limit: 3 * size + size / 10)
    for database in Self.databases.prefix(3) { #expect(put(&cache, database, 10) == 0) }
    #expect(cache.take(Self.databases[0])?.index.count == 10)
    #expect(put(&cache, Self.databases[0], 10) == 0)
    #expect(isAbout(cache.bytes, 3 * size) && cache.evictions == 0)
    // Somewhat more goes than is needed.
    #expect(put(&cache, Self.databases[3], 10) == 2)
    #expect(cache.count == 2 && cache.evictions == 2)
    #expect(isAbout(cache.bytes, 2 * size))
    #expect(cache.take(Self.databases[1]) == nil)
    #expect(cache.take(Self.databases[0]) != nil)
  }

  @Test("what is in use does not go, and what was used last stays however large it is")
  func inUse() {
    var cache = SubscriptionIndexCache(limit: 1)
    #expect(put(&cache, Self.databases[0], 10) == 0)
    #expect(cache.take(Self.databases[0])?.index.count == 10)
    #expect(put(&cache, Self.databases[1], 20) == 0)
    #expect(cache.count == 2)
    #expect(cache.put(Self.index(10), for: Self.databases[0]).map(\.index.count) == [20])
    #expect(cache.take(Self.databases[0])?.index.count == 10)
    #expect(isAbout(cache.bytes, Self.index(10).bytes))
  }

  @Test("an index that grows while it is loaded lets others go")
  func growing() {
    let size = Self.index(10).bytes
    var cache = SubscriptionIndexCache(limit: 2 * size + size / 10)
    #expect(put(&cache, Self.databases[0], 10) == 0)
    #expect(cache.take(Self.databases[1]) == nil)
    #expect(cache.setSize(size / 2, of: Self.databases[1]).isEmpty)
    #expect(cache.setSize(size * 3 / 2, of: Self.databases[1]).count == 1)
    #expect(cache.bytes == size * 3 / 2)
  }

  @Test("an index that lost all subscriptions takes what an empty one does")
  func shrinks() {
    var index = Self.index(30)
    let empty = DatabaseIndex().bytes
    #expect(index.bytes > empty)
    index.apply(
      SubscriptionChanges(
        position: SubscriptionPosition(version: 2, forgottenVersion: 0), saved: [],
        deleted: (0..<30).map { SubscriptionName(subscriber: "_a", subscriptionID: "s\($0)") },
        startsAnew: false, moreComing: false))
    #expect(index.index.count == 0 && index.bytes == empty)
  }

  /// Tables of the same content differ by some bytes, as memory happens to be given.
  private func isAbout(_ bytes: Int, _ others: Int) -> Bool { abs(bytes - others) * 20 < others }

  private func put(_ cache: inout SubscriptionIndexCache, _ database: DatabasePart, _ count: Int)
    -> Int
  {
    _ = cache.take(database)
    return cache.put(Self.index(count), for: database).count
  }

  private static func index(_ count: Int) -> DatabaseIndex {
    var index = DatabaseIndex()
    index.apply(
      SubscriptionChanges(
        position: SubscriptionPosition(version: 1, forgottenVersion: 0),
        saved: (0..<count).map { number in
          StoredSubscription(
            subscriber: "_a", subscription: DispatchWorld.query("s\(number)"), version: 1)
        }, deleted: [], startsAnew: true, moreComing: false))
    return index
  }
}
