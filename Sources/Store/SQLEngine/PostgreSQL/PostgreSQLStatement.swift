/// A statement that ran in a session.
final class PostgreSQLStatement {
  let text: String
  let name: String
  let argumentCount: Int
  var isPrepared = false
  var effects: StatementEffects?

  init(_ text: String, number: Int) {
    self.text = text
    name = "s\(number)"
    argumentCount =
      text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst()
      .compactMap { Int(Substring($0.prefix { (0x30...0x39).contains($0) })) }.max() ?? 0
  }
}
