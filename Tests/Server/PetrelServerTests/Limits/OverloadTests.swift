import JSONCoding
import Testing

struct OverloadTests {
  @Test("a write that finds no place gets TRY_AGAIN_LATER with the seconds to wait; reads go on")
  func writesRefused() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      try await service.restart { $0.waitingWrites = 0 }
      let answer = try await service.modify(Service.operation("create", "m"))
      #expect(answer.failure == "503 TRY_AGAIN_LATER")
      #expect(answer.json["retryAfter"]?.double == 1)
      #expect(answer.headers["retry-after"] == "1")
      #expect(!answer.reason.isEmpty)
      #expect(try await service.lookup("n", "m").outcomes == ["ok", "NOT_FOUND"])
    }
  }

  @Test("with a tiny queue every write is either done or refused, and all done ones are notified")
  func tinyQueue() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(
        #"{"subscriptionType": "query", "subscriptionID": "s", "firesOn": ["create"], "#
          + #""query": {"recordType": "Note"}}"#)
      let path = try await service.makeReader(as: service.alice)
      try await service.restart {
        $0.waitingWrites = 1
        $0.writesPerCommit = 1
      }
      let outcomes = try await withThrowingTaskGroup(of: (String, String).self) { group in
        for index in 0..<60 {
          group.addTask {
            let answer = try await service.modify(Service.operation("create", "n\(index)"))
            return ("n\(index)", answer.status == 200 ? answer[0].outcome : answer.failure)
          }
        }
        return try await group.reduce(into: [String: String]()) { $0[$1.0] = $1.1 }
      }
      #expect(Set(outcomes.values).isSubset(of: ["ok", "503 TRY_AGAIN_LATER"]), "\(outcomes)")
      let saved = outcomes.filter { $0.value == "ok" }.keys
      #expect(!saved.isEmpty)
      try await service.waitForDispatch(of: saved.count)

      // The dispatcher's and the courier's own writes may have been refused in between, too.
      try await service.restart()
      var notified: [String] = []
      while true {
        let answer = try await service.poll(path)
        guard answer.status == 200, !answer.body.isEmpty else { break }
        notified.append(answer.json["ck"]?["qry"]?["rid"]?.string ?? "-")
      }
      #expect(notified.sorted() == saved.sorted())
    }
  }
}
