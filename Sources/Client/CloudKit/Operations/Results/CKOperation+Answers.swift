internal import WebServices

extension CKOperation {
  /// Throws `internalError` if the answer cannot be parsed.
  func read<Response>(
    _ read: () throws(ServiceError) -> Response
  ) throws(CKError) -> Response {
    do throws(ServiceError) {
      return try read()
    } catch {
      throw CKError(unreadableAnswer: error)
    }
  }

  /// Pairs the items of a request with the server's answers, which have the same order. Throws
  /// `internalError` if the server answered for another number of items.
  func pair<Item, Answer>(
    _ items: [Item], with answers: [Answer]
  ) throws(CKError) -> [(Item, Answer)] {
    guard items.count == answers.count else {
      throw CKError(
        .internalError,
        "the server's answer has \(answers.count) items, but the request has \(items.count)")
    }
    return Array(zip(items, answers))
  }
}
