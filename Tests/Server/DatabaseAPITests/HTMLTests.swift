import Testing

@testable import DatabaseAPI

struct HTMLTests {
  @Test("text is escaped, in elements and in attributes")
  func escapes() {
    let text = #"<script>alert("1" & '2')</script>"#
    let page: HTML = "<p title=\"\(text)\">\(text)</p>"
    let escaped = "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
    #expect(page.text == "<p title=\"\(escaped)\">\(escaped)</p>")
  }

  @Test("pieces are put together as they are, and escaped once")
  func pieces() {
    let inner: HTML = "<b>\("a&b")</b>"
    let all: HTML = "<p>\(inner)\([inner, inner])</p>"
    #expect(all.text == "<p><b>a&amp;b</b><b>a&amp;b</b><b>a&amp;b</b></p>")
  }

  @Test("other characters stay, those that combine with what is before them too")
  func others() {
    let text = "é 😀 \u{301}<\u{301}\n"
    #expect(HTML("\(text)").text == "é 😀 \u{301}&lt;\u{301}\n")
  }
}
