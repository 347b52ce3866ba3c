import CloudKitModel
import StoreModel

@testable import PetrelServer
@testable import Storage

extension NoLeakTests {
  /// The sealed parts of an answer, opened as an attacker with the key could read them. For Bob's
  /// own databases they contain the numbers of changes. In the public database all users share one
  /// sequence of numbers, so there the test only records that a part is sealed.
  struct Seals {
    private static let versions: ClosedRange<Int64> = 1...2_000

    let tokens: TokenCipher
    /// The private database, and that of what others share.
    let own: [DatabaseID]
    private var tags: [String: String] = [:]

    init(_ service: Service) async throws {
      tokens = service.store.secrets.tokens
      func database(_ scope: DatabaseScope, _ owner: String?) async throws -> DatabaseID {
        try await service.store.databases.database(
          at: DatabaseAddress(
            container: Service.container, environment: .development, scope: scope, owner: owner))
      }
      own = [
        try await database(.private, service.bob.recordName),
        try await database(.shared, service.bob.recordName),
      ]
      let everybodys = try await database(.public, nil)
      let changeTags = try tokens.makeChangeTags()
      for version in Self.versions {
        for database in own {
          tags[changeTags.tag(ofVersion: version, in: database)] = "<tag \(version)>"
        }
        tags[changeTags.tag(ofVersion: version, in: everybodys)] = "<tag>"
      }
    }

    func opened(_ text: String) -> String {
      text.replacing(/"([A-Za-z0-9+\/]{20,}={0,2})"/) { match in
        let word = String(match.output.1)
        return "\"\(token(word) ?? word)\""
      }
      .replacing(/[A-Za-z0-9_-]{10,}/) { match in
        let word = String(match.output)
        return tags[word] ?? name(word) ?? word
      }
    }

    private func token(_ word: String) -> String? {
      if let token = try? ChangeToken(word, sealedBy: tokens) {
        guard own.contains(token.database) else { return "<token of \(word.count)>" }
        return "<token \(token.feed) \(token.position) \(token.base)>"
      }
      if let token = try? NotificationLogToken(word, sealedBy: tokens) {
        return "<token of \(word.count), \(own.map { token.places[$0]?.position ?? 0 })>"
      }
      return nil
    }

    private func name(_ word: String) -> String? {
      tokens.database(named: word) == nil ? nil : "<database of \(word.count)>"
    }
  }
}
