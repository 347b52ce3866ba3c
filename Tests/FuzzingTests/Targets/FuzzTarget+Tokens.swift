import CloudKitModel
import Foundation

@testable import Storage

// What clients keep for the server and hand back. Their check sums are no secrets: the attacked
// bodies get right ones.
extension FuzzTarget {
  static let tokens = [changeTokens, continuations, logTokens, positions, notices]

  /// FNV-1a, as both kinds of tokens end.
  private static func hash<Number: FixedWidthInteger & UnsignedInteger>(
    _ bytes: [UInt8], from start: Number, _ prime: Number
  ) -> [UInt8] {
    let hash = bytes.reduce(start) { ($0 ^ Number($1)) &* prime }
    return withUnsafeBytes(of: hash.bigEndian) { Array($0) }
  }

  static func changeToken(_ body: [UInt8]) -> String {
    let body = [UInt8(ascii: "T")] + body
    return Data(body + hash(body, from: 0x811C_9DC5 as UInt32, 0x0100_0193)).base64EncodedString()
  }

  static func continuation(_ body: [UInt8], of query: RecordQuery) -> String {
    var encoder = RowEncoder()
    encoder.encode(query.query)
    encoder.encode(optional: query.zoneID) { $0.encode($1) }
    let hashed = hash(
      encoder.bytes + body, from: 0xCBF2_9CE4_8422_2325 as UInt64, 0x100_0000_01B3)
    return Data(body + hashed).base64EncodedString()
  }

  private static func altered(_ token: ChangeToken, by input: [UInt8]) -> ChangeToken {
    func number(_ place: Int) -> Int64? {
      guard input.count >= place * 8 + 8 else { return nil }
      return input[place * 8..<place * 8 + 8].reduce(0) { $0 << 8 | Int64($1) }
    }
    var token = token
    token.position = number(0) ?? token.position
    token.base = number(1) ?? token.base
    if let top = number(2) {
      token.walk = ChangeToken.Walk(top: top, below: number(3) ?? top)
    }
    return token
  }

  private static let changeTokens = FuzzTarget(
    "change-tokens", longest: 128,
    answering: { input in
      let service = try await AttackedServices.shared.service()
      var text = changeToken(input.dropFirst().map { $0 })
      if (input.first ?? 0) % 2 == 0, let own = try await service.changeToken() {
        // A token of this server's, with other numbers in it.
        text = altered(own, by: Array(input.dropFirst())).text
      }
      guard let token = read({ try ChangeToken(text) }) else { return }
      let again = try must("a token that was written is read") { try ChangeToken(token.text) }
      try hold(again == token, "a token that was written is the same")
      for body in [
        #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}, "syncToken": "\#(text)"}]}"#,
        #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}, "syncToken": "\#(text)", "reverse": true}]}"#,
      ] {
        try await service.answer("POST", "private/changes/zone", body: body).check()
      }
      try await service.answer(
        "POST", "private/changes/database", body: #"{"syncToken": "\#(text)"}"#
      ).check()
    })

  /// Queries that make use of each kind of index.
  private static let queries = [
    Query(recordType: "T"),
    Query(recordType: "T", filters: [Filter(.field("a"), .greaterThan, .int64(0))]),
    Query(
      recordType: "T",
      filters: [
        Filter(.field("b"), .beginsWith, .string("w")), Filter(.field("a"), .equals, .int64(1)),
      ]),
    Query(
      recordType: "T",
      filters: [Filter(.field("a"), .isIn, .list(of: .int64, [.int64(1), .int64(2)]))]),
    Query(recordType: "T", sortKeys: [SortKey(.field("a"))]),
    Query(
      recordType: "T", sortKeys: [SortKey(.field("b"), ascending: false), SortKey(.field("a"))]),
    Query(
      recordType: "T",
      sortKeys: [
        SortKey(.field("d"), relativeLocation: Location(latitude: 0, longitude: 0))
      ]),
    Query(recordType: "T", filters: [Filter(.allText, .containsAnyTokens, .string("words"))]),
  ]

  private static let continuations = FuzzTarget(
    "continuations", longest: 128,
    answering: { input in
      var query = RecordQuery(
        query: queries[Int(input.first ?? 0) % queries.count], zoneID: nil, limit: 1)
      query.continuation = continuation(Array(input.dropFirst()), of: query)
      let service = try await AttackedServices.shared.service()
      let user = try await service.store.user(named: "anna")
      let database = try await service.store.database(
        at: DatabaseAddress(
          container: AttackedService.container, environment: .development, scope: .private,
          owner: user?.userRecordName))
      do {
        _ = try await service.store.records(matching: query, in: database)
      } catch let error as StoreError {
        try hold(error.code == .badContinuation, "what is wrong is the marker, not: \(error)")
      } catch is ItemFailure {}
    })

  private static let logTokens = FuzzTarget("notification-log-tokens", longest: 256) { input in
    // A version that is read; the rest is as it comes.
    let text = Data([RowEncoder.version] + input).base64EncodedString()
    for text in [text, input.text] {
      guard let token = read({ try NotificationLogToken(text) }) else { continue }
      let again = try must("a token that was written is read") {
        try NotificationLogToken(token.text)
      }
      try hold(again == token, "a token that was written is the same")
    }
  }

  private static let positions = FuzzTarget("courier-positions", longest: 256) { input in
    guard let position = CourierPosition(input.text) else { return }
    try hold(
      CourierPosition(position.text) == position || position.text.isEmpty,
      "a position that was written is the same")
  }

  private static let notices = FuzzTarget(
    "server-notices", longest: 512, words: ["here ", "word", "told ", " some\n", " all", " much"]
  ) { input in
    guard let notice = ServerNotice(payload: input.text) else { return }
    try hold(
      ServerNotice(payload: notice.payload) == notice,
      "a notice that was written is the same: \(notice.payload)")
  }
}
