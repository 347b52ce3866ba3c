import Foundation

/// A large answer in memory during its sending. The event loop reads it in pieces, and so the server
/// knows how much of it the client has taken.
final class AnswerBytes: Sendable {
  private let data: Data
  private let progress: @Sendable (Pace.Event) -> Void

  init(_ data: Data, _ progress: @escaping @Sendable (Pace.Event) -> Void) {
    self.data = data
    self.progress = progress
  }

  /// Copies the bytes from `offset` on to `target`. The client has taken all bytes before.
  func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> Int {
    let piece = data.dropFirst(offset).prefix(target.count)
    target.copyBytes(from: piece)
    progress(.answerTaken(piece.count))
    return piece.count
  }
}
