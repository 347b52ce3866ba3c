import CloudKitModel
import Testing

/// The table of shares.
extension AccessPageTests {
  /// A participant who has accepted may do what the policy permits. Nothing is permitted to one who
  /// may not read. Where the policy does not decide, a cell has the answer to the request of the walk.
  @Test("the page has the refusals of the policy for each participant of a share")
  func shares() throws {
    let table = try AccessTable("Shares", names: 2)
    let effects: Set = ["left", "ended"]
    #expect(
      Set(ShareCall.all.compactMap(\.action)) == Set(ParticipantAction.allCases),
      "an action is new: it needs a call")
    var rows: [[String]] = []
    for call in ShareCall.all {
      let name = "\(call.name) \(call.share)".replacing("`", with: "")
      func word(_ part: SharePart) -> String {
        let outcome = table.expected[.init(row: name, column: part.rawValue)] ?? "–"
        return AccessTable.words.first { $0.value == outcome }?.key ?? outcome
      }
      rows.append(
        [call.name, call.share]
          + SharePart.allCases.map { part in
            guard let action = call.action, let (role, permission) = part.membership else {
              return word(part)
            }
            if AccessPolicy.refusal(of: .read, as: role, with: permission) != nil {
              return word(part) == "ok" ? word(.stranger) : word(part)
            }
            guard AccessPolicy.refusal(of: action, as: role, with: permission) == nil else {
              return call.refusal
            }
            return effects.contains(word(part)) ? word(part) : "ok"
          })
    }
    try Self.check("Shares", rows)
  }
}
