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
    requester: ShareRole = .owner, blocked: Set<String> = [], requesters: Set<String> = []
  ) throws -> ParticipantChanges {
    try ParticipantChanges(
      to: requested,
      in: .init(
        present: present, owner: ("_owner", "o"), permission: permission, requester: requester,
        timestamp: TestStore.time(1), requesters: requesters, blocked: blocked))
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

  @Test("only the owner makes, changes, removes and blocks an administrator")
  func administrators() throws {
    let present = [
      stored("1", user: "_a"), stored("2", user: "_b", role: .administrator, joined: 3),
      stored("3", role: .administrator, email: "c@example.com"),
    ]
    let administrator = entry("2", role: .administrator)
    let invited = entry("3", role: .administrator)
    let lists: [(list: [ShareParticipant]?, blocked: Set<String>, saved: [String])] = [
      ([entry("1", role: .administrator), administrator, invited], [], ["1"]),
      ([entry("1"), administrator, invited, entry(user: "_n", role: .administrator)], [], ["n"]),
      ([entry("1"), entry("2"), invited], [], ["2"]),
      ([entry("1"), administrator, entry(email: "C@example.com")], [], ["3"]),
      ([entry("1"), entry("2", role: .administrator, permission: .readWrite), invited], [], ["2"]),
      ([entry("1"), invited], [], []), ([administrator], [], []), ([], [], []),
      (nil, ["_b"], []),
    ]
    for (list, blocked, saved) in lists {
      let byOwner = try changes(to: list, from: present, blocked: blocked)
      #expect(byOwner.saved.map { $0.user == "_n" ? "n" : $0.id } == saved)
      #expect(!saved.isEmpty || !byOwner.ended.isEmpty)
      let failure = #expect(throws: ItemFailure.self) {
        try changes(to: list, from: present, requester: .administrator, blocked: blocked)
      }
      #expect(failure?.code == .accessDenied)
    }
    // A public permission removes who has not accepted, so the owner sets it.
    #expect(
      try changes(to: nil, from: present, permission: (.none, .readOnly)).ended.map(\.id)
        == ["1", "3"])
    #expect(throws: ItemFailure.self) {
      try changes(
        to: nil, from: present, permission: (.none, .readOnly), requester: .administrator)
    }
    #expect(
      try changes(
        to: nil, from: Array(present.prefix(2)), permission: (.none, .readOnly),
        requester: .administrator
      ).ended.map(\.id) == ["1"])
    // What concerns no administrator is done by one.
    let kept = [
      entry("1", permission: .readWrite), administrator, invited, entry(user: "_d"),
      entry("2", role: .unknown),
    ]
    let result = try changes(to: kept, from: present, requester: .administrator)
    #expect(result.saved.map(\.user) == ["_a", "_d"] && result.ended.isEmpty)
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
    let result = try changes(to: nil, from: present, blocked: ["_a"])
    #expect(result.ended.map(\.id) == ["1"] && result.saved.isEmpty)
    #expect(try changes(to: present.map { entry($0.id) }, from: present, blocked: ["_a"]) == result)
    // Who is blocked is not added again, but an address may be anybody's.
    for identity in [
      UserIdentity(userRecordName: "_z"), UserIdentity(lookup: UserLookup(userRecordName: "_z")),
    ] {
      let entry = ShareParticipant(
        role: .privateUser, permission: .readOnly, acceptance: .unknown, identity: identity)
      #expect(throws: ItemFailure.self) { try changes(to: [entry], from: [], blocked: ["_z"]) }
    }
    #expect(
      try changes(to: [entry(email: "z@example.com")], from: [], blocked: ["_z"]).saved.count == 1)
    let added = try changes(
      to: [entry("2"), entry(user: "_c"), entry(user: "_d")], from: [present[1]],
      requesters: ["_c"])
    #expect(added.saved.map(\.details.isApprovedRequester) == [true, false])
  }
}
