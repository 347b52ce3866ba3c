import CloudKitModel
import Foundation
import StoreModel

@testable import Storage

// What clients keep for the server and hand back. It is sealed; the attacked bodies have the seal of
// this server, as from somebody who knows its secret, so that what lies behind it is reached.
extension FuzzTarget {
  static let tokens = [changeTokens, continuations, logTokens, positions, notices, seals]

  static func continuation(
    _ body: [UInt8], of scope: QueryContinuation.Scope, sealedBy tokens: TokenCipher
  ) throws -> String {
    try tokens.seal(body + scope.digest, as: .continuation)
  }

  private static let cipher = TokenCipher(secret: Array(repeating: 7, count: 32))

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
      let tokens = service.store.secrets.tokens
      var text = try tokens.seal(Array(input.dropFirst()), as: .changes)
      if (input.first ?? 0) % 2 == 0, let own = try await service.changeToken() {
        // A token of this server's, with other numbers in it.
        text = try altered(own, by: Array(input.dropFirst())).text(sealedBy: tokens)
      }
      guard let token = read({ try ChangeToken(text, sealedBy: tokens) }) else { return }
      let again = try must("a token that was written is read") {
        try ChangeToken(try token.text(sealedBy: tokens), sealedBy: tokens)
      }
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
      let service = try await AttackedServices.shared.service()
      let user = try await service.store.accounts.user(named: "anna")
      let database = try await service.store.databases.database(
        at: DatabaseAddress(
          container: AttackedService.container, environment: .development, scope: .private,
          owner: user?.userRecordName))
      query.continuation = try continuation(
        Array(input.dropFirst()),
        of: QueryContinuation.Scope(query: query, database: database, reach: .all),
        sealedBy: service.store.secrets.tokens)
      do {
        _ = try await service.store.records.records(matching: query, in: database)
      } catch let error as StoreError {
        try hold(error.code == .badContinuation, "what is wrong is the marker, not: \(error)")
      } catch is ItemFailure {}
    })

  private static let logTokens = FuzzTarget("notification-log-tokens", longest: 256) { input in
    // A version that is read; the rest is as it comes.
    let sealed = try cipher.seal([RowEncoder.version] + input, as: .notificationLog)
    for text in [sealed, input.text] {
      guard let token = read({ try NotificationLogToken(text, sealedBy: cipher) }) else { continue }
      let again = try must("a token that was written is read") {
        try NotificationLogToken(try token.text(sealedBy: cipher), sealedBy: cipher)
      }
      try hold(again == token, "a token that was written is the same")
    }
  }

  private static let positions = FuzzTarget(
    "courier-positions", longest: 256, readsSafeTexts: true
  ) { input in
    let sealed = try cipher.seal(Array(input), as: .courierPosition)
    for text in [sealed, input.text] {
      guard let position = CourierPosition(text, sealedBy: cipher) else { continue }
      let again = CourierPosition(try position.text(sealedBy: cipher), sealedBy: cipher)
      try hold(
        again == position || position.sequences.isEmpty,
        "a position that was written is the same")
    }
  }

  private static let seals = FuzzTarget("token-seals", longest: 256) { input in
    for kind in TokenCipher.Kind.allCases {
      try hold(cipher.open(input.text, as: kind) == nil, "what was made up is not sealed")
      let sealed = try cipher.seal(Array(input), as: kind)
      try hold(try cipher.seal(Array(input), as: kind) == sealed, "the same has one seal")
      for other in TokenCipher.Kind.allCases {
        let opened = cipher.open(sealed, as: other)
        try hold(opened == (other == kind ? Array(input) : nil), "it opens as what it is")
      }
    }
  }

  private static let notices = FuzzTarget(
    "server-notifications", longest: 512,
    words: ["here ", "word", "told ", " some\n", " all", " much"],
    readsSafeTexts: true
  ) { input in
    guard let notice = ServerNotification(payload: input.text) else { return }
    try hold(
      ServerNotification(payload: notice.payload) == notice,
      "a notice that was written is the same: \(notice.payload)")
  }
}
