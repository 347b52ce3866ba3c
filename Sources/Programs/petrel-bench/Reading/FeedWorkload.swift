import CloudKitModel
import Foundation

/// A workload of query subscriptions to feed items, and of records that are feed items. The
/// workload is the same in each run.
///
/// The mix of filters is that of the matching workload (``MatchingWorkload``). Eight of 20
/// subscriptions have a filter for a member of a list. The others have filters for equality, one of
/// several values, ranges, prefixes, words or distances. Some have two filters. The number of
/// different values grows with the number of subscriptions, so a record always fires about ten
/// subscriptions.
struct FeedWorkload: Sendable {
  static let recordType = "FeedItem"
  let subscriptions: Int

  private var tags: Int { share(0.3) }
  private var authors: Int { share(0.3) }
  private var categories: Int { share(0.004) }
  /// The number of different words in titles. A filter for words has two words. So the number grows
  /// only with the square root of the number of subscriptions.
  private var words: Int { max(10, Int(1.1 * Double(subscriptions).squareRoot())) }
  private var cities: Int { share(0.0035) }
  private static let prices = 1_000_000.0

  /// Returns the number of different values of a field: a fraction of the number of subscriptions,
  /// at least 10.
  private func share(_ share: Double) -> Int { max(10, Int(Double(subscriptions) * share)) }

  func subscription(_ number: Int) -> Subscription {
    var draw = Draw(seed: number, stream: 1)
    var options: Subscription.Options =
      switch draw.number(below: 10) {
      case 0: .firesOnRecordCreation
      case 1: .firesOnRecordDeletion
      default: .events
      }
    options.formIntersection(.events)
    return Subscription(
      subscriptionID: "sub-\(number)",
      kind: .query(
        Query(recordType: Self.recordType, filters: filters(draw.number(below: 20), &draw)),
        zoneID: nil, options: options))
  }

  /// Returns the filters of a subscription.
  ///
  /// - Parameter kind: The kind of the filters, from 0 to 19.
  private func filters(_ kind: Int, _ draw: inout Draw) -> [Filter] {
    func text(_ field: String, _ comparator: CloudKitModel.Comparator, _ value: String) -> Filter {
      Filter(.field(field), comparator, .string(value))
    }
    func price(_ comparator: CloudKitModel.Comparator, _ value: Double) -> Filter {
      Filter(.field("price"), comparator, .double(value))
    }
    switch kind {
    case 0..<6:
      return [text("tags", .listContains, tag(&draw))]
    case 6..<10:
      return [text("author", .equals, author(&draw))]
    case 10..<12:
      return [
        text("category", .equals, category(&draw)),
        price(.lessThan, Self.prices * (0.01 + 0.04 * draw.share())),
      ]
    case 12..<14:
      return [
        text("tags", .listContains, tag(&draw)),
        Filter(
          .field("rating"), .greaterThanOrEquals, .int64(Int64(3 + draw.number(below: 3)))),
      ]
    case 14..<16:
      let five = (0..<5).map { _ in author(&draw) }
      return [Filter(.field("author"), .isIn, .list(of: .string, five.map { .string($0) }))]
    case 16:
      let low = Self.prices * draw.share()
      let width = Self.prices * 20 / Double(max(1_000, subscriptions))
      return [price(.greaterThanOrEquals, low), price(.lessThan, low + width)]
    case 17:
      let first = word(&draw)
      let second = word(&draw).prefix(1 + draw.number(below: 3))
      return [text("title", .beginsWith, first + " " + second)]
    case 18:
      return [text("title", .containsAllTokens, word(&draw) + " " + word(&draw))]
    default:
      return [
        Filter(
          .field("location"), .near, .location(place(&draw)),
          distance: 2_000 + Double(draw.number(below: 8_000)))
      ]
    }
  }

  /// Returns the record with a number, at least 0. It has eight fields.
  func record(_ number: Int) -> Record {
    var draw = Draw(seed: number, stream: 2)
    return Record(
      recordID: RecordID(recordName: "item-\(number)"), recordType: Self.recordType,
      fields: [
        "author": .string(author(&draw)), "category": .string(category(&draw)),
        "tags": .list(of: .string, (0..<3).map { _ in .string(tag(&draw)) }),
        "price": .double((Self.prices * draw.share() * 100).rounded() / 100),
        "rating": .int64(Int64(draw.number(below: 6))),
        "published": .timestamp(
          Timestamp(milliseconds: 1_704_067_200_000 + Int64(draw.number(below: 31_622_400)) * 1_000)
        ),
        "title": .string((0..<6).map { _ in word(&draw) }.joined(separator: " ")),
        "location": .location(place(&draw)),
      ])
  }

  private func tag(_ draw: inout Draw) -> String { "tag\(draw.number(below: tags))" }
  private func author(_ draw: inout Draw) -> String { "author\(draw.number(below: authors))" }
  private func category(_ draw: inout Draw) -> String {
    "category\(draw.number(below: categories))"
  }

  /// Returns a word of eight hexadecimal digits, so that words share prefixes.
  private func word(_ draw: inout Draw) -> String {
    let bits = SplitMix64.bits(of: UInt64(draw.number(below: words)))
    return String(0x1_0000_0000 + (bits >> 32), radix: 16).suffix(8).description
  }

  /// Returns a location near one of the cities, up to 0.3 degrees away in each direction.
  private func place(_ draw: inout Draw) -> Location {
    var city = Draw(seed: draw.number(below: cities), stream: 3)
    func offset(_ draw: inout Draw) -> Double {
      0.2 * (draw.share() + draw.share() + draw.share() - 1.5)
    }
    return Location(
      latitude: -55 + 115 * city.share() + offset(&draw),
      longitude: -170 + 340 * city.share() + offset(&draw))
  }
}

/// A sequence of pseudorandom numbers that depends only on its seed and stream.
private struct Draw {
  private var state: UInt64

  /// Creates a sequence.
  ///
  /// - Parameter stream: A number below 4. With different streams, the sequences of a record, a
  ///   subscription and a city with the same number differ.
  init(seed: Int, stream: UInt64) {
    state = SplitMix64.bits(of: UInt64(seed) &* 4 &+ stream)
  }

  /// Returns the next integer, at least 0 and below `bound`.
  mutating func number(below bound: Int) -> Int {
    state = SplitMix64.bits(of: state)
    return Int(state % UInt64(bound))
  }

  /// Returns the next fraction, at least 0 and below 1.
  mutating func share() -> Double { Double(number(below: 1 << 40)) / Double(1 << 40) }
}
