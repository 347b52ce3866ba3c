import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct ParticipantChangesTests {
  private func stored(
    _ id: String, user: String? = nil, role: ShareRole = .privateUser, joined: Int64? = nil,
    email: String? = nil
  ) -> StoredParticipant {
    var details = ParticipantDetails()
    if let email { details.lookup = UserLookup(emailAddress: email) }
    return StoredParticipant(
      id: id, user: user, role: role, permission: .readOnly, joined: joined, details: details)
  }

  private func entry(
    _ id: String? = nil, user: String? = nil, role: ShareRole = .privateUser,
    permission: SharePermission = .readOnly, email: String? = nil
  ) -> ShareParticipant {
    ShareParticipant(
      participantID: id, role: role, permission: permission, acceptance: .unknown,
      identity: UserIdentity(
        userRecordName: user, lookup: email.map { UserLookup(emailAddress: $0) }))
  }

  private func changes(
    to requested: [ShareParticipant]?, from present: [StoredParticipant],
    permission: (before: SharePermission, after: SharePermission) = (.none, .none),
    requester: ShareRole = .owner, blocking blocked: Set<String> = [], requesters: Set<String> = []
  ) throws -> ParticipantChanges {
    try ParticipantChanges(
      to: requested, blocking: blocked,
      in: .init(
        present: present, owner: ("_owner", "o"), permission: permission, requester: requester,
        timestamp: TestStore.time(1), requesters: requesters))
  }

  @Test("a known participant is found by identifier, user or address, and keeps its identity")
  func known() throws {
    let present = [
      stored("1", user: "_a", joined: 5), stored("2", email: "b@example.com"),
      stored("3", user: "_c"),
    ]
    let result = try changes(
      to: [
        entry("1", permission: .readWrite), entry(email: " B@Example.com"), entry("x", user: "_c"),
      ], from: present)
    #expect(result.saved.map(\.id) == ["1"])
    #expect(result.saved.first?.joined == 5 && result.saved.first?.user == "_a")
    #expect(result.ended.isEmpty && result.added.isEmpty)
  }

  @Test("entries of the owner and repeated entries change nothing")
  func owner() throws {
    let result = try changes(
      to: [
        entry("o", role: .privateUser), entry(user: "_owner"), entry("z", role: .owner),
        entry("1", user: "_a"), entry("2", user: "_a"),
      ], from: [])
    #expect(result.saved.map(\.user) == ["_a"])
    #expect(result.added == ["_a"])
  }

  @Test("only the owner makes an administrator, and ends that")
  func administrators() throws {
    let present = [stored("1", user: "_a"), stored("2", user: "_b", role: .administrator)]
    let promoted = [entry("1", role: .administrator), entry("2", role: .administrator)]
    #expect(try changes(to: promoted, from: present).saved.map(\.id) == ["1"])
    let demoted = [entry("1"), entry("2")]
    #expect(try changes(to: demoted, from: present).saved.map(\.id) == ["2"])
    for list in [promoted, demoted] {
      #expect(throws: ItemFailure.self) {
        try changes(to: list, from: present, requester: .administrator)
      }
    }
    let kept = [entry("1", permission: .readWrite), entry("2", role: .administrator)]
    #expect(
      try changes(to: kept, from: present, requester: .administrator).saved.map(\.id) == ["1"])
  }

  @Test("a public permission removes who has only been invited, and none removes who joined by it")
  func permissions() throws {
    let present = [
      stored("1", user: "_a"), stored("2", user: "_b", joined: 3),
      stored("3", user: "_c", role: .publicUser, joined: 4),
    ]
    let opened = try changes(to: nil, from: present, permission: (.none, .readOnly))
    #expect(opened.ended.map(\.id) == ["1"])
    let changed = try changes(to: nil, from: present, permission: (.readOnly, .readWrite))
    #expect(changed.ended.map(\.id) == ["1"])
    let closed = try changes(to: nil, from: present, permission: (.readWrite, .none))
    #expect(closed.ended.map(\.id) == ["3"])
    // While the share is public, nobody is invited or removed by the list.
    #expect(throws: ItemFailure.self) {
      try changes(
        to: [entry("2"), entry(user: "_new")], from: [present[1]], permission: (.none, .readOnly))
    }
    #expect(throws: ItemFailure.self) {
      try changes(to: [], from: [present[1]], permission: (.readOnly, .readOnly))
    }
  }

  @Test("a block removes a participant, and a requester who is added is an approved one")
  func blocks() throws {
    let present = [stored("1", user: "_a", joined: 2), stored("2", user: "_b")]
    let result = try changes(to: nil, from: present, blocking: ["_a"])
    #expect(result.ended.map(\.id) == ["1"] && result.saved.isEmpty)
    let added = try changes(
      to: [entry("2"), entry(user: "_c"), entry(user: "_d")], from: [present[1]],
      requesters: ["_c"])
    #expect(added.saved.map(\.details.isApprovedRequester) == [true, false])
  }
}
