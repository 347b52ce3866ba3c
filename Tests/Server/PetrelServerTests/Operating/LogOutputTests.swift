import Foundation
import JSONCoding
import Testing
import Waiting

@testable import Logging

struct LogOutputTests {
  /// A pipe whose reader takes only what a test reads.
  private struct LogPipe {
    let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    /// Fills the pipe, so that it takes no further byte.
    func fill() {
      _ = fcntl(writing, F_SETFL, O_NONBLOCK)
      let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
      while write(writing, bytes, bytes.count) > 0 {}
      _ = fcntl(writing, F_SETFL, 0)
    }

    /// Reads everything that is in the pipe.
    func drain() -> String {
      _ = fcntl(reading, F_SETFL, O_NONBLOCK)
      var all: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 4096)
      while case let count = read(reading, &piece, piece.count), count > 0 {
        all += piece[..<count]
      }
      return String(decoding: all, as: UTF8.self)
    }
  }

  @Test("lines to a full disk are lost and counted, and stop nobody")
  func fullDisk() throws {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let log = ServerLog(level: .info, format: .text, to: LogOutput(descriptor: full))
    for _ in 0..<3 { log.info("request failed") }
    #expect(log.linesLost == 3)
  }

  @Test("lines to a pipe whose reader is gone are lost, and no signal ends the process")
  func readerGone() throws {
    let pipe = try LogPipe()
    defer { close(pipe.writing) }
    close(pipe.reading)
    // The call makes the process ignore SIGPIPE, which is what this test is about.
    _ = ServerLog.standardError()
    let log = ServerLog(
      level: .info, format: .text, to: LogOutput(descriptor: pipe.writing, patience: 1))
    log.info("request failed")
    #expect(log.linesLost == 1)
  }

  @Test("a reader that takes nothing holds nobody up; when it reads again, a line has the number")
  func readerStands() throws {
    let pipe = try LogPipe()
    defer {
      close(pipe.reading)
      close(pipe.writing)
    }
    pipe.fill()
    let log = ServerLog(
      level: .info, format: .json, to: LogOutput(descriptor: pipe.writing, patience: 1))
    for _ in 0..<100 { log.info("request failed") }
    #expect(log.linesLost == 100)
    _ = pipe.drain()
    log.info("request answered")
    log.info("another")
    let lines = try pipe.drain().split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(
      lines.map(\.["message"]) == [
        "lines of the log were lost, because they could not be written", "request answered",
        "another",
      ])
    #expect(lines.first?["lines"] == 100)
    #expect(log.linesLost == 100)
  }

  @Test("a line of which only a part was written is ended before the next one")
  func partOfALine() throws {
    let pipe = try LogPipe()
    defer {
      close(pipe.reading)
      close(pipe.writing)
    }
    let log = ServerLog(
      level: .info, format: .text, to: LogOutput(descriptor: pipe.writing, patience: 1))
    // A pipe has 64 KiB by default (pipe(7)).
    log.info(String(repeating: "x", count: 1 << 20))
    #expect(log.linesLost == 1)
    let part = pipe.drain()
    #expect(part.count >= 4096 && !part.hasSuffix("\n"))
    log.info("next")
    let lines = pipe.drain().split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4 && lines.first == "" && lines.last == "")
    #expect(lines[1].hasSuffix("lines=1") && lines[2].hasSuffix("info next"), "\(lines)")
  }
}
