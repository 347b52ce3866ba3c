import Foundation

/// A query of the query benchmark. It has variants with different values, so that no cache can
/// answer all repetitions.
struct QueryCase {
  /// The filters of a query. About how many of the records match them is known.
  struct Condition {
    /// The parentheses contain the fraction or the number of the matching records.
    var title: String
    var filters: @Sendable (Int) -> [String]
  }

  /// A sort order.
  struct Order {
    var title: String
    var sortKeys: @Sendable (Int) -> [String]
  }

  var condition: Condition
  var order: Order
  var title: String { condition.title + " " + order.title }

  /// Returns the body of a request to `records/query`.
  ///
  /// - Parameter marker: The continuation marker of the page before; `nil` for the first page.
  func body(variant: Int, limit: Int, marker: String?) -> [UInt8] {
    var body = """
      {"query":{"recordType":"\(QueryRecords.recordType)",\
      "filterBy":[\(condition.filters(variant).joined(separator: ","))],\
      "sortBy":[\(order.sortKeys(variant).joined(separator: ","))]},"resultsLimit":\(limit)
      """
    if let marker { body += #","continuationMarker":"\#(marker)""# }
    return Array((body + "}").utf8)
  }

  static func all(count: Int) -> [QueryCase] {
    conditions(count: count).flatMap { condition in
      orders.map { QueryCase(condition: condition, order: $0) }
    }
  }

  /// Returns the JSON of one filter.
  ///
  /// - Parameter distance: The distance in meters of the comparator `NEAR`; `nil` for other
  ///   comparators.
  private static func filter(
    _ field: String, _ comparator: String, _ value: String, type: String, distance: Int? = nil
  ) -> String {
    """
    {"fieldName":"\(field)","comparator":"\(comparator)",\
    "fieldValue":{"value":\(value),"type":"\(type)"}\
    \(distance.map { ",\"distance\":\($0)" } ?? "")}
    """
  }

  private static func place(_ variant: Int) -> String {
    #"{"latitude":\#(variant * 17 % 120 - 60),"longitude":\#(variant * 37 % 360 - 180)}"#
  }

  private static func conditions(count: Int) -> [Condition] {
    [
      Condition(title: "all") { _ in [] },
      Condition(title: "rank = n (one)") {
        [filter("rank", "EQUALS", "\($0 * 7919 % count)", type: "INT64")]
      },
      Condition(title: "owner = s (1/1000)") {
        [filter("owner", "EQUALS", "\"owner\($0 % 1_000)\"", type: "STRING")]
      },
      Condition(title: "kind = s (1/70)") {
        [filter("kind", "EQUALS", "\"kind\($0 % 70)\"", type: "STRING")]
      },
      Condition(title: "status = n (1/10)") {
        [filter("status", "EQUALS", "\($0 % 10)", type: "INT64")]
      },
      Condition(title: "hundredth = s (1/100)") {
        [filter("hundredth", "EQUALS", "\"h\(99 - $0 % 10)\"", type: "STRING")]
      },
      Condition(title: "a <= rank < b (1/1000)") {
        let low = $0 * 7919 % (count - count / 1_000)
        return [
          filter("rank", "GREATER_THAN_OR_EQUALS", "\(low)", type: "INT64"),
          filter("rank", "LESS_THAN", "\(low + count / 1_000)", type: "INT64"),
        ]
      },
      Condition(title: "rank > n (1/3)") {
        [filter("rank", "GREATER_THAN", "\(count * 2 / 3 + $0)", type: "INT64")]
      },
      Condition(title: "owner begins (1/100)") {
        [filter("owner", "BEGINS_WITH", "\"owner\(10 + $0 % 90)\"", type: "STRING")]
      },
      Condition(title: "kind in 3 (1/23)") { variant in
        let kinds = (0..<3).map { "\"kind\(($0 * 20 + variant) % 70)\"" }
        return [
          filter("kind", "IN", "[\(kinds.joined(separator: ","))]", type: "STRING_LIST")
        ]
      },
      Condition(title: "tags contain (1/100)") {
        [filter("tags", "LIST_CONTAINS", "\"tag\($0 % 200)\"", type: "STRING")]
      },
      Condition(title: "tags contain all 2") {
        let tags = "[\"tag\($0 % 200)\",\"tag\(($0 + 1) % 200)\"]"
        return [filter("tags", "LIST_CONTAINS_ALL", tags, type: "STRING_LIST")]
      },
      Condition(title: "a frequent word (1/3)") { _ in
        [filter("note", "CONTAINS_ALL_TOKENS", "\"word2\"", type: "STRING")]
      },
      Condition(title: "a rare word (1/1000)") {
        [filter("note", "CONTAINS_ALL_TOKENS", "\"word\(700 + $0 % 50)\"", type: "STRING")]
      },
      Condition(title: "two words (1/500)") {
        [filter("note", "CONTAINS_ALL_TOKENS", "\"word10 word\(12 + $0 % 5)\"", type: "STRING")]
      },
      Condition(title: "near 100 km (16)") {
        [filter("place", "NEAR", place($0), type: "LOCATION", distance: 100_000)]
      },
      Condition(title: "near 2000 km (1/41)") {
        [filter("place", "NEAR", place($0), type: "LOCATION", distance: 2_000_000)]
      },
      Condition(title: "status, kind, tag (7)") {
        [
          filter("status", "EQUALS", "\($0 % 10)", type: "INT64"),
          filter("kind", "EQUALS", "\"kind\($0 % 70)\"", type: "STRING"),
          filter("tags", "LIST_CONTAINS", "\"tag\($0 % 200)\"", type: "STRING"),
        ]
      },
      Condition(title: "status != n (9/10)") {
        [filter("status", "NOT_EQUALS", "\($0 % 10)", type: "INT64")]
      },
    ]
  }

  private static func key(_ name: String, ascending: Bool = true) -> String {
    #"{"fieldName":"\#(name)","ascending":\#(ascending)}"#
  }

  /// The sort orders. The first one has no sort keys.
  private static let orders = [
    Order(title: "-") { _ in [] },
    Order(title: "rank") { _ in [key("rank")] },
    Order(title: "rank down") { _ in [key("rank", ascending: false)] },
    Order(title: "status, rank") { _ in [key("status"), key("rank")] },
    Order(title: "distance") {
      [#"{"fieldName":"place","relativeLocation":\#(place($0 + 1))}"#]
    },
  ]
}
