import CloudKitModel
import JSONCoding
import Synchronization
import Testing

@testable import Logging

struct ServerLogTests {
  private static let time = Timestamp(milliseconds: 1_772_357_400_250)

  private static func entry(
    _ message: String, _ fields: [(name: String, value: JSONValue)] = []
  ) -> ServerLog.Entry {
    ServerLog.Entry(level: .warning, message: message, fields: fields)
  }

  @Test("as text, fields come behind the message, in quotes where they need them")
  func text() {
    #expect(
      Self.entry("it broke", [("uuid", "a-b"), ("status", 400), ("cause", "no \"file\"")])
        .line(.text, at: Self.time)
        == #"2026-03-01T09:30:00Z warning it broke: uuid=a-b status=400 cause="no \"file\"""#)
    #expect(Self.entry("done").line(.text, at: Self.time) == "2026-03-01T09:30:00Z warning done")
    #expect(Self.entry("done", [("name", "")]).text == #"done: name="""#)
  }

  @Test("as JSON, each entry is one object on one line, fields beside time, level and message")
  func json() throws {
    let line = Self.entry(
      "it\nbroke", [("uuid", "a-b"), ("cause", "line\nbreak"), ("seconds", 0.5)]
    )
    .line(.json, at: Self.time)
    #expect(!line.contains("\n"))
    #expect(line.hasPrefix(#"{"time":"2026-03-01T09:30:00.250Z","level":"warning","message":"#))
    #expect(
      try JSONValue(parsing: line)
        == [
          "time": "2026-03-01T09:30:00.250Z", "level": "warning", "message": "it\nbroke",
          "uuid": "a-b", "cause": "line\nbreak", "seconds": 0.5,
        ])
  }

  @Test("what others wrote cannot look like a line of its own")
  func injection() {
    let entry = Self.entry("failed\n2026-03-01T09:30:00Z error x", [("path", "a\nb")])
    #expect(!entry.line(.text, at: Self.time).contains("\n"))
  }

  @Test("what matters less than the level is dropped")
  func levels() {
    for level in ServerLog.Level.allCases {
      let seen = Mutex<[ServerLog.Level]>([])
      let log = ServerLog(
        level: level, entries: { entry in seen.withLock { $0.append(entry.level) } })
      log.debug("d", [:])
      log.info("i")
      log.warning("w")
      log.error("e")
      #expect(seen.withLock { $0 } == ServerLog.Level.allCases.filter { $0 >= level })
    }
  }

  @Test("at the level debug each request has a line")
  func requests() async throws {
    let lines = Mutex<[String]>([])
    var settings = ServiceSettings()
    settings.log = ServerLog(level: .debug) { _, line in lines.withLock { $0.append(line) } }
    try await withService(settings) { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let line = lines.withLock { $0 }.first { $0.contains("operation=records/modify") } ?? ""
      #expect(line.contains(" operation=records/modify status=200 seconds=0"))
    }
  }
}
