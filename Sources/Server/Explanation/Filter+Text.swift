import CloudKitModel

extension Filter {
  /// The filter as text for people, such as `price < 100`.
  public var text: String {
    var words = "\(key) \(comparator.sign) \(value?.text ?? "no value")"
    if let distance { words += " within \(distance) m" }
    if options.contains(.caseInsensitive) { words += " ignoring case" }
    if options.contains(.diacriticInsensitive) { words += " ignoring diacritics" }
    return words
  }
}

extension Comparator {
  /// The comparator as it is written in predicates. Comparators without a notation in predicates
  /// are described in words.
  fileprivate var sign: String {
    switch self {
    case .equals: "=="
    case .notEquals: "!="
    case .lessThan: "<"
    case .lessThanOrEquals: "<="
    case .greaterThan: ">"
    case .greaterThanOrEquals: ">="
    case .near: "NEAR"
    case .containsAllTokens: "CONTAINS ALL WORDS OF"
    case .containsAnyTokens: "CONTAINS ANY WORD OF"
    case .isIn: "IN"
    case .notIn: "NOT IN"
    case .listContains: "CONTAINS"
    case .notListContains: "NOT CONTAINS"
    case .listContainsAll: "CONTAINS ALL OF"
    case .notListContainsAll: "NOT CONTAINS ALL OF"
    case .listContainsAny: "CONTAINS ANY OF"
    case .notListContainsAny: "NOT CONTAINS ANY OF"
    case .beginsWith: "BEGINSWITH"
    case .notBeginsWith: "NOT BEGINSWITH"
    case .listMemberBeginsWith: "HAS A MEMBER THAT BEGINSWITH"
    case .notListMemberBeginsWith: "HAS NO MEMBER THAT BEGINSWITH"
    }
  }
}

extension RecordValue {
  /// The number of characters after which a value's text is cut.
  private static let shown = 100

  /// The value as text for people. A text is cut after 100 characters. Only the first 20 elements
  /// of a list appear.
  public var text: String {
    switch self {
    case .string(let text): Self.cut("'\(text)'")
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .timestamp(let time): time.iso8601
    case .preciseTimestamp(let time): time.timestamp.iso8601
    case .bytes(let data): "\(data.count) bytes"
    case .location(let place): "(\(place.latitude), \(place.longitude))"
    case .reference(let reference): "the record \(reference.recordName)"
    case .asset(let asset): "an asset of \(asset.size) bytes"
    case .list(_, let values):
      Self.cut("[" + values.prefix(20).map(\.text).joined(separator: ", ") + "]")
    }
  }

  /// Returns the first ``shown`` characters of a text. If the text is longer, an ellipsis follows
  /// them.
  private static func cut(_ text: String) -> String {
    text.count > shown ? text.prefix(shown) + "…" : text
  }
}
