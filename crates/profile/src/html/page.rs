//! Pages with other contents in the same style.

use super::parts::figure;
use super::{tile, whole_page};
use crate::plot::{Plot, PlotSize, escape};
use std::fmt::Write;

/// A page under construction: a heading, then sections in the order in which they are added. All texts are escaped.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    kind: String,
    body: String,
}

impl Page {
    /// A page about a subject, such as a file; `kind` says what the page tells of it, and `facts` stand in one line below.
    pub fn new(title: &str, kind: &str, facts: &[String]) -> Page {
        let facts: Vec<String> = facts.iter().map(|fact| escape(fact)).collect();
        let body = format!(
            "<header>\n<p class=\"kicker\">oxeye {}</p>\n<h1>{}</h1>\n<p class=\"facts\">{}</p>\n</header>\n",
            escape(kind),
            escape(title),
            facts.join(" <span class=\"dot\">·</span> ")
        );
        Page { title: title.to_owned(), kind: kind.to_owned(), body }
    }

    /// Figures in large type: each with its name, its value, and words below.
    pub fn tiles(&mut self, tiles: &[(&str, String, String)]) {
        self.body.push_str("<section class=\"tiles\" aria-label=\"Summary\">\n");
        for (name, value, text) in tiles {
            tile(&mut self.body, name, value, text);
        }
        self.body.push_str("</section>\n");
    }

    /// A picture under a heading.
    pub fn figure(&mut self, heading: &str, draw: impl Fn(PlotSize) -> Plot) {
        let _ = write!(self.body, "<section>\n<h2>{}</h2>\n", escape(heading));
        figure(&mut self.body, draw);
        self.body.push_str("</section>\n");
    }

    /// A table under a heading; the columns in `numbers` are set to the right. Nothing if there are no rows.
    pub fn table(&mut self, heading: &str, heads: &[&str], numbers: &[usize], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let class = |k: usize| if numbers.contains(&k) { " class=\"n\"" } else { "" };
        let _ = write!(
            self.body,
            "<section>\n<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>",
            escape(heading)
        );
        for (k, head) in heads.iter().enumerate() {
            let _ = write!(self.body, "<th{} scope=\"col\">{}</th>", class(k), escape(head));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (k, cell) in row.iter().enumerate() {
                let class = if cell.len() > 40 { " class=\"recipe\"" } else { class(k) };
                let _ = write!(self.body, "<td{class}>{}</td>", escape(cell));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n</section>\n");
    }

    /// A list of sentences under a heading. Nothing if there are none.
    pub fn sentences(&mut self, heading: &str, sentences: &[String]) {
        if sentences.is_empty() {
            return;
        }
        let _ = write!(self.body, "<section>\n<h2>{}</h2>\n<ul>\n", escape(heading));
        for sentence in sentences {
            let _ = writeln!(self.body, "<li>{}</li>", escape(sentence));
        }
        self.body.push_str("</ul>\n</section>\n");
    }

    /// The file: it follows the reader's choice of light or dark, fits a phone, and needs nothing else.
    pub fn finish(self) -> String {
        let Page { title, kind, body } = self;
        whole_page(&title, &kind, |page| page.push_str(&body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Canvas;

    #[test]
    fn texts_cannot_leave_their_place() {
        let mut page = Page::new("<b>x</b>", "values", &["gcc & co".into()]);
        page.tiles(&[("A", "<i>".into(), "&".into())]);
        page.table("T", &["<h>", "n"], &[1], &[vec!["<td>".into(), "1".into()]]);
        page.table("empty", &["h"], &[], &[]);
        page.sentences("S", &["</ul>".into()]);
        page.figure("F", |_| Canvas::default().finish(1.0, 1.0, "t", "d"));
        let text = page.finish();
        assert!(
            text.contains("&lt;b&gt;x&lt;/b&gt;")
                && text.contains("<td>&lt;td&gt;</td><td class=\"n\">1</td>")
        );
        assert!(!text.contains("<i>") && !text.contains("empty") && text.contains("<li>&lt;/ul&gt;</li>"));
    }
}
