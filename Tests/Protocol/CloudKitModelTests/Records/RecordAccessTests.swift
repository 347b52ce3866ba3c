import CloudKitModel
import Testing

struct RecordAccessTests {
  private func record(by creator: String) -> Record {
    Record(
      recordID: RecordID(recordName: "r"), recordType: "Note",
      created: Record.Stamp(timestamp: Timestamp(milliseconds: 0), userRecordName: creator))
  }

  private func access(
    _ user: String?, _ roles: Set<String>, _ grants: RecordGrants
  ) -> RecordAccess {
    AccessPolicy.access(of: .user(named: user), roles: roles, under: grants)
  }

  @Test("by the standard grants all read, the signed-in create, creators write")
  func standard() {
    let anna = access("_anna", ["_world", "_icloud"], .standard)
    #expect(anna.reach == .all)
    #expect(anna.refusal(ofCreating: "Note") == nil)
    #expect(
      anna.refusal(ofWriting: record(by: "_anna")) == nil
        && anna.refusal(ofWriting: record(by: "_bob")) != nil)
    let nobody = access(nil, ["_world"], .standard)
    #expect(nobody.mayRead(record(by: "_anna")))
    #expect(
      nobody.refusal(ofCreating: "Note") != nil
        && nobody.refusal(ofWriting: record(by: "_anna")) != nil)
  }

  @Test("a role of one's own adds what it is granted")
  func custom() {
    let grants = RecordGrants(["Editor": [.write, .create]])
    let editor = access("_anna", ["_world", "_icloud", "Editor"], grants)
    #expect(
      editor.refusal(ofCreating: "Note") == nil
        && editor.refusal(ofWriting: record(by: "_bob")) == nil)
    let other = access("_bob", ["_world", "_icloud"], grants)
    #expect(other.reach == .none)
    #expect(
      other.refusal(ofCreating: "Note") != nil
        && other.refusal(ofWriting: record(by: "_bob")) != nil)
  }

  @Test("grants limit readers to their own records where creators alone read or write")
  func limits() {
    for (grants, limits) in [
      (RecordGrants.standard, false), (RecordGrants([:]), false),
      (RecordGrants(["_creator": .read]), true), (RecordGrants(["_creator": .write]), true),
      (RecordGrants(["_creator": .create]), false),
      (RecordGrants(["_creator": .read, "Editor": .read]), true),
      (RecordGrants(["_creator": .read, "_icloud": .read]), false),
      (RecordGrants(["_creator": .read, "_world": .write]), false),
    ] {
      #expect(grants.limitsReadersToOwn == limits, "\(grants)")
    }
  }

  @Test("who may write may read; nobody is the creator of a record without one")
  func writing() {
    let grants = RecordGrants(["_creator": .write])
    let anna = access("_anna", ["_world", "_icloud"], grants)
    #expect(anna.reach == .own)
    #expect(anna.mayRead(record(by: "_anna")) && !anna.mayRead(record(by: "_bob")))
    let nobody = access(nil, ["_world"], grants)
    #expect(nobody.reach == .none)
    #expect(!nobody.mayRead(Record(recordID: RecordID(recordName: "r"), recordType: "Note")))
  }

  @Test("a refusal says which permission is missing, and for what")
  func reasons() {
    let nobody = access(nil, ["_world"], RecordGrants(["Editor": .all]))
    let note = record(by: "_anna")
    #expect(nobody.refusal(ofReading: note)?.reason() == "no role of this caller has READ for it")
    #expect(
      nobody.refusal(ofQuerying: "Note")?.reason()
        == "no role of this caller has READ for record type 'Note'")
    #expect(
      nobody.refusal(ofCreating: "Note")?.reason(for: "_bob")
        == "no role of _bob has CREATE for record type 'Note'")
    #expect(
      nobody.refusal(ofWriting: note)?.reason()
        == "no role of this caller has WRITE for it; by default only the user who created a record has"
    )
  }

  @Test("grants decide in the public database alone, and for administrators nowhere")
  func scopes() {
    let anna = Caller.user(userRecordName: "_anna")
    #expect(AccessPolicy.access(of: anna, in: .public) == nil)
    #expect(AccessPolicy.access(of: .anonymous, in: .public) == nil)
    #expect(AccessPolicy.access(of: anna, in: .private) == .full)
    #expect(AccessPolicy.access(of: anna, in: .shared) == .full)
    let administrator = Caller.administrator(userRecordName: "_anna")
    #expect(AccessPolicy.access(of: administrator, in: .public) == .full)
    #expect(AccessPolicy.access(of: administrator, roles: [], under: RecordGrants([:])) == .full)
  }

  @Test("signing in helps where another role than everyone's has the permission")
  func signingIn() {
    #expect(RecordGrants(["_creator": .read]).signedInMayGain(.read))
    #expect(RecordGrants(["Editor": .write]).signedInMayGain(.read))
    #expect(!RecordGrants(["_world": .read]).signedInMayGain(.read))
    #expect(!RecordGrants(["_icloud": .create]).signedInMayGain(.read))
  }
}
